"""`python -m mtcool` is the `mtcool` command."""

from mtcool.cli.commands import main

if __name__ == "__main__":
    main()
