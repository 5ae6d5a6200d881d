"""A register of the functions that tests compare with another library."""

#: The compared functions, each with its reference libraries.
AGAINST: dict[str, set[str]] = {}


def against(whom, *names):
    """Marks a test that compares functions with another library, to 1e-10."""

    def mark(test):
        for name in names:
            AGAINST.setdefault(name, set()).add(whom)
        return test

    return mark
