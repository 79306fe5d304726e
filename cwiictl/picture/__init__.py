"""Who in a cluster can act as what in which cloud, drawn: what there is to draw, and the page and the diagram that are made of it. Pure."""
