"""The offline work by TensorRT-LLM's library, ids in: trtllm_offline.py JOB.json RESULT.json"""
import json, sys, time


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import tensorrt_llm
    from tensorrt_llm import LLM, SamplingParams
    from tensorrt_llm.llmapi import KvCacheConfig

    tokens = job["output_tokens"]
    llm = LLM(model=job["model"], max_seq_len=job["context"], max_batch_size=256, skip_tokenizer_init=True,
              kv_cache_config=KvCacheConfig(enable_block_reuse=False))
    ready = time.perf_counter() - begin
    sampling = SamplingParams(max_tokens=tokens, min_tokens=tokens if job["ignore_eos"] else 1,
                              ignore_eos=job["ignore_eos"], detokenize=False, temperature=job["temperature"],
                              top_p=job["top_p"], top_k=job["top_k"] or None, seed=job["seed"], end_id=-1)
    seconds, count = [], 0
    for prompts in job["repeats"]:
        begin = time.perf_counter()
        answers = llm.generate(prompts, sampling, use_tqdm=False)
        seconds.append(time.perf_counter() - begin)
        count = sum(len(answer.outputs[0].token_ids) for answer in answers)
    json.dump({"version": tensorrt_llm.__version__, "seconds": seconds, "output_tokens": count,
               "ready_seconds": ready}, open(sys.argv[2], "w"))


if __name__ == "__main__":
    main()
