"""check.py RULE ROOT: prints each place of the tree that breaks a rule; exit status 1 where there is one."""

import sys

import build_lists
import catalogues
import forbidden
import layers
from source_tree import SourceTree

RULES = {"layers": layers, "forbidden": forbidden, "catalogues": catalogues, "build_lists": build_lists}


def main(rule, root):
    tree = SourceTree(root)
    findings = sorted(set(RULES[rule].check(tree)))
    for finding in findings:
        print(finding)
    print(f"{rule}: {len(tree.paths)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
