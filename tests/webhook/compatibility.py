"""Names the tests that exercise each row of docs/reference/compatibility.md."""

from __future__ import annotations

from collections.abc import Mapping

# Rows with this value show in the recorded answers of the peers. The recordings tests of the
# dialect register a change to the peer's answer under the name of the row.
RECORDING = "recording"

INIT_CONTAINERS = "init containers"
WRITER_ORDER = "order of the credentials writer"
HELPER_CONTAINERS = "helper containers"
OCCUPIED_PATH = "occupied mount path"
WINDOWS_PODS = "Windows pods"
PROXY_TOKEN = "API server token in proxies"
SETUP_TOKEN = "API server token in gcloud-setup"
SETUP_USER = "user of gcloud-setup"

# By section and row of the page. Paths of tests are relative to tests/webhook.
EXERCISED_BY: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "cwii": {
        INIT_CONTAINERS: (RECORDING,),
        WRITER_ORDER: (
            RECORDING,
            "dialects/cwii/test_delivery.py::test_credentials_are_written_before_the_pods_own_init_containers",
        ),
        HELPER_CONTAINERS: (
            RECORDING,
            "dialects/cwii/test_safety.py::test_containers_of_ours_see_no_token_of_the_api_server",
            "dialects/cwii/test_safety.py::test_containers_of_ours_fit_the_restricted_standard_as_the_pods_user",
            "dialects/cwii/test_safety.py::test_containers_of_ours_leave_the_pods_class",
            "dialects/cwii/test_safety.py::test_the_clouds_tools_have_the_memory_that_they_need",
        ),
        OCCUPIED_PATH: (
            RECORDING,
            "dialects/cwii/test_safety.py::test_a_mount_of_the_users_own_stays_alone_at_its_path",
        ),
        WINDOWS_PODS: (
            RECORDING,
            "dialects/cwii/test_mutators.py::test_on_windows_paths_begin_with_a_drive_and_no_shell_is_needed",
        ),
        "verification images": (
            "dialects/cwii/test_safety.py::test_images_are_named_by_who_may_run_them_or_from_the_list",
        ),
        "unknown delivery mode": (
            "dialects/cwii/test_recordings.py::test_what_was_refused_is_refused_and_says_why",
        ),
        "default delivery mode": (
            "dialects/cwii/test_delivery.py::test_without_its_flag_they_come_by_annotation_and_nothing_is_written",
            "dialects/cwii/test_delivery.py::test_googles_credentials_come_as_is_said",
        ),
        "invalid values": (
            "dialects/cwii/test_safety.py::test_a_value_that_is_none_of_its_kind_is_refused",
            "dialects/cwii/test_safety.py::test_audiences_and_images_hold_nothing_that_a_shell_obeys",
            "dialects/cwii/test_safety.py::test_no_other_authority_gets_the_token",
            "dialects/cwii/test_safety.py::test_an_authority_that_is_listed_may_be_logged_in_to",
        ),
        "token expiration": (
            "dialects/cwii/test_safety.py::test_an_expiration_that_the_api_server_would_refuse_is_refused_here",
            "dialects/cwii/test_precedence.py::test_the_nearest_answer_that_is_no_number_leaves_the_default_and_is_told",
        ),
        "variable references": (
            "dialects/cwii/test_compatibility.py::test_variable_reference_is_refused",
        ),
        "owner references": (
            "admission/test_annotation_sources.py::test_a_reference_that_does_not_fit_its_object_is_not_followed",
            "admission/test_annotation_sources.py::test_what_is_above_a_replica_set_is_heard_in_its_place",
            "admission/test_annotation_sources.py::test_a_job_is_heard_before_its_cron_job",
        ),
        "marker annotation": (
            "dialects/cwii/test_reinvocation.py::test_the_marker_keeps_what_it_lists",
            "dialects/cwii/test_recordings.py::test_a_second_pass_changes_nothing",
        ),
        "unreachable API server": (
            "dialects/cwii/test_compatibility.py::test_failed_lookup_is_an_http_error",
        ),
    },
    "amazon-eks-pod-identity-webhook": {
        OCCUPIED_PATH: (RECORDING,),
        "unknown fields": ("dialects/eks/test_compatibility.py::test_unknown_fields_are_kept",),
        "unchanged pods": ("dialects/eks/test_compatibility.py::test_unchanged_pod_gets_no_patch",),
        "Windows pods": (
            "dialects/eks/test_mutator.py::test_on_windows_the_token_is_behind_backslashes",
        ),
        "expiration jitter": (
            "dialects/eks/test_compatibility.py::test_expiration_depends_on_the_uid_of_the_request",
            "dialects/eks/test_mutator.py::test_a_day_is_a_little_less_for_the_agents_tokens",
        ),
        "variable references": (
            "dialects/eks/test_mutator.py::test_what_the_kubelet_would_expand_arrives_as_it_was_written",
        ),
        "skip label": (
            "dialects/eks/test_mutator.py::test_the_label_switches_it_off_whatever_it_says",
        ),
        "invalid ConfigMap key": (
            "dialects/common/test_external_config_reader.py::test_the_config_map_is_read_as_go_reads_it",
            "dialects/common/test_external_config_reader.py::test_the_config_map_is_read_and_what_was_good_stays",
            "dialects/common/test_external_config_reader.py::test_what_cannot_be_read_is_told_once_and_what_was_good_stays",
        ),
    },
    "azure-workload-identity": {
        OCCUPIED_PATH: (
            RECORDING,
            "dialects/azwi/test_refusals.py::test_what_of_theirs_meets_ours_is_told_once",
        ),
        PROXY_TOKEN: (
            RECORDING,
            "dialects/azwi/test_proxy.py::test_proxies_see_no_token_of_the_api_server",
        ),
        "volume name on reinvocation": (
            "dialects/azwi/test_mutator.py::test_a_pod_that_comes_by_its_name_keeps_its_volume",
        ),
        "token volume with another name": (
            "dialects/azwi/test_compatibility.py::test_v15_adds_its_volume_beside_another_token_volume",
            "dialects/azwi/test_mutator.py::test_under_v15_a_volume_of_that_name_stays_theirs",
        ),
        "proxies in Windows pods": (
            "dialects/azwi/test_refusals.py::test_a_pod_that_says_that_it_is_for_windows_has_no_proxy",
            "dialects/azwi/test_proxy.py::test_that_no_proxy_runs_on_windows_is_told",
        ),
        "unknown fields": ("dialects/azwi/test_compatibility.py::test_unknown_fields_are_kept",),
        "QoS class": (
            "dialects/azwi/test_proxy.py::test_a_pod_keeps_its_class_and_what_all_of_it_say_the_proxies_say_too",
        ),
        "variable references": ("dialects/azwi/test_mutator.py::test_dollars_arrive",),
        "opt-in label": (
            "dialects/azwi/test_refusals.py::test_the_label_is_looked_at_where_it_is_told_to",
        ),
        "mirror pods": ("dialects/azwi/test_refusals.py::test_a_mirror_pod_is_left_alone",),
        "refusal messages": (
            "dialects/azwi/test_refusals.py::test_a_token_that_cannot_last_so_is_refused",
            "dialects/azwi/test_refusals.py::test_a_port_that_is_none_is_refused",
            "dialects/azwi/test_refusals.py::test_the_hosts_network_has_no_proxy",
            "dialects/azwi/test_refusals.py::test_a_pod_whose_account_is_not_there_is_refused",
        ),
    },
    "gcp-workload-identity-federation-webhook": {
        OCCUPIED_PATH: (RECORDING,),
        SETUP_TOKEN: (
            RECORDING,
            "dialects/gcpwif/test_setup_container.py::test_it_goes_before_the_pods_own_and_sees_no_token_of_the_api_server",
        ),
        SETUP_USER: (
            RECORDING,
            "dialects/gcpwif/test_setup_container.py::test_it_runs_as_the_account_says_or_else_as_the_pod_does",
        ),
        "shell injection": (
            "dialects/gcpwif/test_setup_container.py::test_a_shell_takes_each_value_for_one_word",
            "dialects/gcpwif/test_setup_container.py::test_what_a_shell_might_read_comes_near_none",
            "dialects/gcpwif/test_setup_container.py::test_nothing_in_its_command_is_the_kubelets_to_expand",
        ),
        "QoS class": (
            "dialects/gcpwif/test_setup_container.py::test_a_pod_keeps_its_class_and_what_all_of_it_say_gcloud_setup_says_too",
        ),
        "gcloud-setup in Windows pods": (
            "dialects/gcpwif/test_setup_container.py::test_a_pod_that_says_that_it_is_for_windows_is_not_given_what_the_api_server_would_refuse_in_it",
            "dialects/gcpwif/test_setup_container.py::test_who_will_not_read_the_token_is_told",
        ),
        "unknown fields": ("dialects/gcpwif/test_compatibility.py::test_unknown_fields_are_kept",),
        "variable references": ("dialects/gcpwif/test_mutator.py::test_dollars_arrive",),
        "mirror pods": ("dialects/gcpwif/test_compatibility.py::test_mirror_pod_is_not_changed",),
        "refusal messages": (
            "dialects/gcpwif/test_mutator.py::test_what_the_peer_refuses_is_refused_in_its_words",
        ),
    },
}
