"""The offline work by vLLM's library, ids in: vllm_offline.py JOB.json RESULT.json"""
import json, os, sys, time

os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import vllm
    from vllm import LLM, SamplingParams

    tokens = job["output_tokens"]
    llm = LLM(model=job["model"], max_model_len=job["context"], max_num_seqs=256, skip_tokenizer_init=True,
              enable_prefix_caching=False, seed=job["seed"])
    ready = time.perf_counter() - begin
    # ignore_eos alone gives the length; a least number of tokens would cost a logits processor each step.
    sampling = SamplingParams(max_tokens=tokens, ignore_eos=job["ignore_eos"], detokenize=False,
                              temperature=job["temperature"], top_p=job["top_p"], top_k=job["top_k"] or 0)
    seconds, count = [], 0
    for prompts in job["repeats"]:
        work = [{"prompt_token_ids": prompt} for prompt in prompts]
        begin = time.perf_counter()
        answers = llm.generate(work, sampling, use_tqdm=False)
        seconds.append(time.perf_counter() - begin)
        count = sum(len(answer.outputs[0].token_ids) for answer in answers)
    json.dump({"version": vllm.__version__, "seconds": seconds, "output_tokens": count, "ready_seconds": ready},
              open(sys.argv[2], "w"))


if __name__ == "__main__":
    main()
