"""Secrets that a text must not have."""


def leaked(secrets, *texts):
    """The names of the secrets that one of the texts has. `secrets`: bytes or texts by name.

    Put the result into a variable before `assert`: pytest prints the arguments of a call within one.
    """
    return [name for name, secret in secrets.items() if any(secret in text for text in texts)]
