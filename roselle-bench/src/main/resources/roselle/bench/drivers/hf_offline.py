"""The offline work by Hugging Face transformers, ids in, one static batch: hf_offline.py JOB.json RESULT.json"""
import json, sys, time


def main():
    job = json.load(open(sys.argv[1]))
    begin = time.perf_counter()
    import torch, transformers

    device = "cuda" if torch.cuda.is_available() else "cpu"
    stored = getattr(transformers.AutoConfig.from_pretrained(job["model"]), "dtype", None)
    half = stored if stored in (torch.float16, torch.bfloat16) else torch.float16
    dtype = half if device == "cuda" else torch.float32
    model = transformers.AutoModelForCausalLM.from_pretrained(job["model"], dtype=dtype).to(device).eval()
    torch.manual_seed(job["seed"])
    ready = time.perf_counter() - begin
    tokens = job["output_tokens"]
    greedy = job["temperature"] == 0
    options = dict(do_sample=False) if greedy else dict(
        do_sample=True, temperature=job["temperature"], top_p=job["top_p"], top_k=job["top_k"])
    if job["ignore_eos"]:
        options["min_new_tokens"] = tokens
    seconds, count = [], 0
    for prompts in job["repeats"]:
        ids = torch.tensor(prompts, device=device)
        if device == "cuda":
            torch.cuda.synchronize()
        begin = time.perf_counter()
        with torch.inference_mode():
            answers = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens,
                                     pad_token_id=0, **options)
        answers = answers.cpu()
        seconds.append(time.perf_counter() - begin)
        count = int(answers.numel() - ids.numel())
    json.dump({"version": f"transformers {transformers.__version__}, torch {torch.__version__}, {device}",
               "seconds": seconds, "output_tokens": count, "ready_seconds": ready,
               "note": "one static batch, as generate() runs it"
                       + (f"; left out, for servers only: {' '.join(job['flags'])}" if job["flags"] else "")},
              open(sys.argv[2], "w"))


if __name__ == "__main__":
    main()
