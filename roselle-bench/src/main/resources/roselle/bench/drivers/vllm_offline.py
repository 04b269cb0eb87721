"""The offline work by vLLM's library, ids in: vllm_offline.py JOB.json RESULT.json"""
import json, os, sys, time

os.environ.setdefault("VLLM_LOGGING_LEVEL", "WARNING")


def options(flags):
    """What the server's flags mean to the library, by vLLM's own parser, and the words that mean nothing to it."""
    from vllm.engine.arg_utils import EngineArgs
    try:
        from vllm.utils.argparse_utils import FlexibleArgumentParser
    except ImportError:  # before 0.12
        from vllm.utils import FlexibleArgumentParser

    class Parser(FlexibleArgumentParser):
        others = []

        def parse_known_args(self, *arguments):  # what parse_args refuses to leave over is the server's
            named, self.others = super().parse_known_args(*arguments)
            return named, []

    parser = EngineArgs.add_cli_args(Parser(allow_abbrev=False))
    unset, named = vars(parser.parse_args([])), vars(parser.parse_args(flags))
    return {name: value for name, value in named.items() if value != unset[name]}, parser.others


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import vllm
    from vllm import LLM, SamplingParams

    tokens = job["output_tokens"]
    given, others = options(job["flags"])
    llm = LLM(**(dict(model=job["model"], max_model_len=job["context"], max_num_seqs=256, skip_tokenizer_init=True,
                      enable_prefix_caching=job["prefix_cache"], seed=job["seed"]) | given))
    ready = time.perf_counter() - begin
    # Without a tokenizer vLLM takes the end of an answer from the model's files. ignore_eos alone gives the length; a
    # least number of tokens would cost a logits processor each step.
    sampling = SamplingParams(max_tokens=tokens, ignore_eos=job["ignore_eos"], detokenize=False,
                              temperature=job["temperature"], top_p=job["top_p"], top_k=job["top_k"] or 0)
    seconds, count = [], 0
    for prompts in job["repeats"]:
        work = [{"prompt_token_ids": prompt} for prompt in prompts]
        begin = time.perf_counter()
        answers = llm.generate(work, sampling, use_tqdm=False)
        seconds.append(time.perf_counter() - begin)
        count = sum(len(answer.outputs[0].token_ids) for answer in answers)
    json.dump({"version": vllm.__version__, "seconds": seconds, "output_tokens": count, "ready_seconds": ready,
               "note": f"left out, for servers only: {' '.join(others)}" if others else ""}, open(sys.argv[2], "w"))


if __name__ == "__main__":
    main()
