"""Uses a cache as programs in Python do: `pull` fills it from HF_ENDPOINT, `find` reads it with the network off."""

import sys

from huggingface_hub import hf_hub_download, scan_cache_dir, snapshot_download

action, cache, repository = sys.argv[1:4]
if action == "pull":
    print(snapshot_download(repository, cache_dir=cache, allow_patterns=["*.json", "*.safetensors"]))
else:
    print(snapshot_download(repository, cache_dir=cache, local_files_only=True))
    for path in sys.argv[4:]:
        print(hf_hub_download(repository, path, cache_dir=cache, local_files_only=True))
    scan = scan_cache_dir(cache)
    print([str(warning) for warning in scan.warnings])
    print([(repo.repo_id, repo.size_on_disk, sorted(repo.refs)) for repo in scan.repos])
