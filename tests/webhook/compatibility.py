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
            (
                "dialects/cwii/test_delivery.py"
                "::test_credentials_writer_runs_before_other_init_containers"
            ),
        ),
        HELPER_CONTAINERS: (
            RECORDING,
            "dialects/cwii/test_safety.py::test_helpers_do_not_mount_the_api_server_token",
            (
                "dialects/cwii/test_safety.py"
                "::test_helpers_are_restricted_and_run_as_the_user_of_the_pod"
            ),
            "dialects/cwii/test_safety.py::test_helpers_keep_the_qos_class",
            (
                "dialects/cwii/test_safety.py"
                "::test_verification_has_enough_memory_for_the_tool_of_the_cloud"
            ),
        ),
        OCCUPIED_PATH: (
            RECORDING,
            "dialects/cwii/test_safety.py::test_mount_of_the_container_stays_alone_at_its_path",
        ),
        WINDOWS_PODS: (
            RECORDING,
            (
                "dialects/cwii/test_mutators.py"
                "::test_windows_paths_have_a_drive_and_no_helper_is_added"
            ),
        ),
        "verification images": (
            "dialects/cwii/test_safety.py::test_verify_image_is_set_by_pod_or_owner_or_is_listed",
        ),
        "unknown delivery mode": (
            "dialects/cwii/test_recordings.py::test_recorded_refusal_is_a_refusal_with_a_reason",
        ),
        "default delivery mode": (
            (
                "dialects/cwii/test_delivery.py"
                "::test_default_delivery_is_an_annotation_without_writes_to_the_cluster"
            ),
            "dialects/cwii/test_delivery.py::test_delivery_annotation_selects_the_volume_source",
        ),
        "invalid values": (
            "dialects/cwii/test_safety.py::test_invalid_value_is_refused",
            "dialects/cwii/test_safety.py::test_audience_or_image_with_shell_syntax_is_refused",
            "dialects/cwii/test_safety.py::test_unknown_authority_host_is_refused",
            "dialects/cwii/test_safety.py::test_listed_authority_host_is_accepted",
        ),
        "token expiration": (
            (
                "dialects/cwii/test_safety.py"
                "::test_expiration_beyond_the_limit_of_the_api_server_is_refused"
            ),
            (
                "dialects/cwii/test_precedence.py"
                "::test_invalid_number_of_the_nearest_source_means_the_default_with_a_warning"
            ),
        ),
        "variable references": (
            "dialects/cwii/test_compatibility.py::test_variable_reference_is_refused",
        ),
        "owner references": (
            (
                "admission/test_annotation_sources.py"
                "::test_reference_that_does_not_match_its_object_is_not_followed"
            ),
            "admission/test_annotation_sources.py::test_controller_of_a_replica_set_is_the_source_in_its_place",
            "admission/test_annotation_sources.py::test_job_precedes_its_cron_job",
        ),
        "marker annotation": (
            "dialects/cwii/test_reinvocation.py::test_marker_keeps_existing_entries",
            "dialects/cwii/test_recordings.py::test_second_pass_makes_no_change",
        ),
        "unreachable API server": (
            "dialects/cwii/test_compatibility.py::test_failed_lookup_is_an_http_error",
        ),
    },
    "amazon-eks-pod-identity-webhook": {
        OCCUPIED_PATH: (RECORDING,),
        "unknown fields": ("dialects/eks/test_compatibility.py::test_unknown_fields_are_kept",),
        "unchanged pods": ("dialects/eks/test_compatibility.py::test_unchanged_pod_gets_no_patch",),
        "Windows pods": ("dialects/eks/test_mutator.py::test_windows_token_path_has_backslashes",),
        "expiration jitter": (
            "dialects/eks/test_compatibility.py::test_expiration_depends_on_the_uid_of_the_request",
            "dialects/eks/test_mutator.py::test_agent_token_of_a_day_lasts_a_little_less",
        ),
        "variable references": (
            "dialects/eks/test_mutator.py::test_variable_reference_in_a_value_is_escaped",
        ),
        "skip label": (
            "dialects/eks/test_mutator.py::test_skip_label_with_any_value_disables_injection",
        ),
        "invalid ConfigMap key": (
            "dialects/common/test_external_config_reader.py::test_config_map_is_parsed_as_in_go",
            (
                "dialects/common/test_external_config_reader.py"
                "::test_config_map_is_read_and_its_last_valid_content_stays"
            ),
            (
                "dialects/common/test_external_config_reader.py"
                "::test_error_is_logged_once_and_the_last_valid_content_stays"
            ),
        ),
    },
    "azure-workload-identity": {
        OCCUPIED_PATH: (
            RECORDING,
            "dialects/azwi/test_refusals.py::test_conflict_with_the_container_is_reported_once",
        ),
        PROXY_TOKEN: (
            RECORDING,
            "dialects/azwi/test_proxy.py::test_proxies_do_not_mount_the_api_server_token",
        ),
        "volume name on reinvocation": (
            "dialects/azwi/test_mutator.py::test_volume_name_stays_after_the_pod_gets_its_name",
        ),
        "token volume with another name": (
            (
                "dialects/azwi/test_compatibility.py"
                "::test_v15_adds_its_volume_beside_another_token_volume"
            ),
            "dialects/azwi/test_mutator.py::test_v15_keeps_a_volume_of_the_pod_with_that_name",
        ),
        "proxies in Windows pods": (
            "dialects/azwi/test_refusals.py::test_proxy_in_a_pod_with_os_windows_is_refused",
            "dialects/azwi/test_proxy.py::test_proxy_in_a_windows_pod_is_reported",
        ),
        "unknown fields": ("dialects/azwi/test_compatibility.py::test_unknown_fields_are_kept",),
        "QoS class": (
            (
                "dialects/azwi/test_proxy.py"
                "::test_proxies_keep_the_qos_class_and_declare_what_all_containers_declare"
            ),
        ),
        "variable references": (
            "dialects/azwi/test_mutator.py::test_variable_reference_in_a_value_is_escaped",
        ),
        "opt-in label": (
            "dialects/azwi/test_refusals.py::test_label_is_required_only_with_the_flag",
        ),
        "mirror pods": ("dialects/azwi/test_refusals.py::test_mirror_pod_is_not_changed",),
        "refusal messages": (
            "dialects/azwi/test_refusals.py::test_invalid_expiration_is_refused",
            "dialects/azwi/test_refusals.py::test_invalid_port_is_refused",
            "dialects/azwi/test_refusals.py::test_proxy_with_host_network_is_refused",
            "dialects/azwi/test_refusals.py::test_pod_with_a_missing_account_is_refused",
        ),
    },
    "gcp-workload-identity-federation-webhook": {
        OCCUPIED_PATH: (RECORDING,),
        SETUP_TOKEN: (
            RECORDING,
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_gcloud_setup_runs_first_without_the_api_server_token"
            ),
        ),
        SETUP_USER: (
            RECORDING,
            "dialects/gcpwif/test_setup_container.py::test_user_comes_from_the_account_or_the_pod",
        ),
        "shell injection": (
            "dialects/gcpwif/test_setup_container.py::test_shell_reads_each_value_as_one_word",
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_value_with_shell_syntax_is_refused_unless_the_mode_is_direct"
            ),
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_command_has_no_values_and_no_variable_references"
            ),
        ),
        "QoS class": (
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_gcloud_setup_keeps_the_qos_class_and_declares_what_all_containers_declare"
            ),
        ),
        "gcloud-setup in Windows pods": (
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_windows_pod_is_refused_unless_the_mode_is_direct"
            ),
            (
                "dialects/gcpwif/test_setup_container.py"
                "::test_pod_that_cannot_use_the_injection_is_reported"
            ),
        ),
        "unknown fields": ("dialects/gcpwif/test_compatibility.py::test_unknown_fields_are_kept",),
        "variable references": (
            "dialects/gcpwif/test_mutator.py::test_variable_reference_in_a_value_is_escaped",
        ),
        "mirror pods": ("dialects/gcpwif/test_compatibility.py::test_mirror_pod_is_not_changed",),
        "refusal messages": (
            (
                "dialects/gcpwif/test_mutator.py"
                "::test_invalid_annotation_is_refused_with_the_message_of_the_peer"
            ),
        ),
    },
}
