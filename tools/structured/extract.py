"""Writes the files of maskbench/data of a git directory of guidance-ai/jsonschemabench into a folder.

usage: extract.py GIT_DIRECTORY FOLDER
"""

import os
import subprocess
import sys


def main():
    repository, folder = sys.argv[1:]
    git = ["git", "--git-dir", repository]
    listing = subprocess.run(
        git + ["ls-tree", "-r", "-z", "HEAD", "--", "maskbench/data/"], capture_output=True, check=True
    ).stdout
    os.makedirs(folder, exist_ok=True)
    blobs = subprocess.Popen(git + ["cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    written, missing = 0, []
    for line in filter(None, listing.split(b"\0")):
        about, path = line.split(b"\t", 1)
        blobs.stdin.write(about.split()[2] + b"\n")
        blobs.stdin.flush()
        head = blobs.stdout.readline().split()
        if head[-1] == b"missing":
            missing.append(path.decode())
            continue
        content = blobs.stdout.read(int(head[2]))
        blobs.stdout.read(1)
        with open(os.path.join(folder, os.path.basename(path.decode())), "wb") as file:
            file.write(content)
        written += 1
    print(f"{written} schemas; {len(missing)} are listed but absent: {missing[:5]}")


if __name__ == "__main__":
    main()
