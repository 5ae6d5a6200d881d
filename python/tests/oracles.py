"""Who says what a function must give: a test of values names the functions that it compares with somebody else's."""

#: The names of the functions that tests compare, with those whom they ask.
AGAINST: dict[str, set[str]] = {}


def against(whom, *names):
    """Mark a test that compares functions, to 1e-10, with what somebody else's code makes of the same numbers."""

    def mark(test):
        for name in names:
            AGAINST.setdefault(name, set()).add(whom)
        return test

    return mark
