"""What the findings on installed middleware are worth: each was looked at by hand, once."""

#: By adapter, check and place: is it real, and what would a maintainer say?
REVIEWED: dict[tuple[str, str, str], str] = {}
