"""The offline work by TensorRT-LLM's library, ids in: trtllm_offline.py JOB.json RESULT.json"""
import json, sys, time


def ends(model):
    """The tokens that end an answer, as the model's files tell; without a tokenizer nobody else looks them up."""
    from transformers import AutoConfig, GenerationConfig

    try:
        found = GenerationConfig.from_pretrained(model).eos_token_id
    except OSError:  # the folder has none
        found = None
    if found is None:
        found = AutoConfig.from_pretrained(model).eos_token_id
    return [found] if isinstance(found, int) else list(found or [])


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import tensorrt_llm
    from tensorrt_llm import LLM, SamplingParams
    from tensorrt_llm.llmapi import KvCacheConfig

    tokens = job["output_tokens"]
    llm = LLM(model=job["model"], max_seq_len=job["context"], max_batch_size=256, skip_tokenizer_init=True,
              kv_cache_config=KvCacheConfig(enable_block_reuse=job["prefix_cache"]))
    ready = time.perf_counter() - begin
    end, *others = ([] if job["ignore_eos"] else ends(job["model"])) or [-1]
    sampling = SamplingParams(max_tokens=tokens, ignore_eos=job["ignore_eos"], detokenize=False,
                              temperature=job["temperature"], top_p=job["top_p"], top_k=job["top_k"] or None,
                              seed=job["seed"], end_id=end, stop_token_ids=others or None)
    seconds, count = [], 0
    for prompts in job["repeats"]:
        begin = time.perf_counter()
        answers = llm.generate(prompts, sampling, use_tqdm=False)
        seconds.append(time.perf_counter() - begin)
        count = sum(len(answer.outputs[0].token_ids) for answer in answers)
    json.dump({"version": tensorrt_llm.__version__, "seconds": seconds, "output_tokens": count,
               "ready_seconds": ready,
               "note": f"left out, for servers only: {' '.join(job['flags'])}" if job["flags"] else ""},
              open(sys.argv[2], "w"))


if __name__ == "__main__":
    main()
