"""The offline work by SGLang's library, ids in: sglang_offline.py JOB.json RESULT.json"""
import argparse, json, sys, time


def options(model, flags):
    """What the server's flags mean to the library, by SGLang's own parser; both take the same."""
    from sglang.srt.server_args import ServerArgs

    parser = argparse.ArgumentParser(prog="flags", allow_abbrev=False)
    ServerArgs.add_cli_args(parser)
    unset = vars(parser.parse_args(["--model-path", model]))
    named = vars(parser.parse_args(["--model-path", model, *flags]))
    return {name: value for name, value in named.items() if value != unset[name]}


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import sglang

    tokens = job["output_tokens"]
    engine = sglang.Engine(**(dict(model_path=job["model"], context_length=job["context"], max_running_requests=256,
                                   skip_tokenizer_init=True, disable_radix_cache=not job["prefix_cache"],
                                   log_level="error", random_seed=job["seed"])
                              | options(job["model"], job["flags"])))
    ready = time.perf_counter() - begin
    # ignore_eos alone gives the length: without a tokenizer, a least number of tokens is refused.
    sampling = dict(max_new_tokens=tokens, ignore_eos=job["ignore_eos"], temperature=job["temperature"],
                    top_p=job["top_p"], top_k=job["top_k"] or -1)
    seconds, count = [], 0
    for prompts in job["repeats"]:
        begin = time.perf_counter()
        answers = engine.generate(input_ids=prompts, sampling_params=sampling)
        seconds.append(time.perf_counter() - begin)
        count = sum(len(answer["output_ids"]) for answer in answers)
    json.dump({"version": sglang.__version__, "seconds": seconds, "output_tokens": count, "ready_seconds": ready},
              open(sys.argv[2], "w"))
    engine.shutdown()


if __name__ == "__main__":
    main()
