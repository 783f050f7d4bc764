"""`python -m memdir`: the program `memdir`, even if its script is not on the path."""

import sys

from memdir._cli import main

if __name__ == "__main__":
    sys.exit(main())
