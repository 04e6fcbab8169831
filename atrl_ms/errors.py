"""The one exception that a user's mistake raises."""


class UserError(Exception):
    """A mistake of the user: wrong key, missing file, unreadable task.

    The command line prints the message as one line and exits with code 2; no traceback.
    The message names the file, the key or the line, and what to do.
    """
