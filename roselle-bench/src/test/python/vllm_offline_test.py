"""The driver of vLLM's library against a stub that takes what vLLM 0.26 takes; nothing is installed for it."""
import argparse, dataclasses, importlib.util, json, os, pathlib, sys, tempfile, types, unittest
from unittest import mock

DRIVER = pathlib.Path(__file__).parents[2] / "main/resources/roselle/bench/drivers/vllm_offline.py"
END = 2


class Answer:
    def __init__(self, ids):
        self.outputs = [types.SimpleNamespace(token_ids=ids)]


@dataclasses.dataclass
class SamplingParams:
    max_tokens: int
    ignore_eos: bool
    detokenize: bool
    temperature: float
    top_p: float
    top_k: int


class EngineArgs:
    @staticmethod
    def add_cli_args(parser):
        parser.add_argument("--model", default="some/model")
        parser.add_argument("--dtype", default="auto")
        parser.add_argument("--max-num-seqs", type=int)
        parser.add_argument("--gpu-memory-utilization", type=float, default=0.92)
        parser.add_argument("--enforce-eager", action="store_true")
        return parser


def engine(seen):
    """A vLLM whose model says the end as its second token, which it knows from the model's files."""

    class LLM:
        def __init__(self, **arguments):
            seen.update(arguments)

        def generate(self, work, sampling, use_tqdm):
            seen["sampling"] = sampling
            length = sampling.max_tokens if sampling.ignore_eos else 2
            return [Answer([5, END, 5, 5, 5, 5][:length]) for _ in work]

    def module(name, **contents):
        made = types.ModuleType(name)
        made.__dict__.update(contents)
        return made

    return {
        "vllm": module("vllm", LLM=LLM, SamplingParams=SamplingParams, __version__="0.26.0"),
        "vllm.engine": module("vllm.engine"),
        "vllm.engine.arg_utils": module("vllm.engine.arg_utils", EngineArgs=EngineArgs),
        "vllm.utils": module("vllm.utils"),
        "vllm.utils.argparse_utils": module(
            "vllm.utils.argparse_utils", FlexibleArgumentParser=argparse.ArgumentParser),
    }


def run(**changes):
    """What the engine was given, and what the driver wrote."""
    job = dict(model="a-model", flags=[], prefix_cache=False, output_tokens=6, context=9, temperature=0.7, top_p=0.9,
               top_k=50, ignore_eos=True, seed=1, repeats=[[[1, 2]], [[3, 4], [5, 6]]]) | changes
    seen = {}
    specification = importlib.util.spec_from_file_location("driver", DRIVER)
    driver = importlib.util.module_from_spec(specification)
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, engine(seen)), \
            mock.patch.dict(os.environ):
        asked, told = pathlib.Path(folder, "job.json"), pathlib.Path(folder, "result.json")
        asked.write_text(json.dumps(job))
        specification.loader.exec_module(driver)
        with mock.patch.object(sys, "argv", ["driver", str(asked), str(told)]):
            driver.main()
        return seen, json.loads(told.read_text())


class VllmOfflineTest(unittest.TestCase):
    def test_runs_each_repeat_and_counts_the_last(self):
        seen, result = run()
        self.assertEqual(len(result["seconds"]), 2)
        self.assertEqual(result["output_tokens"], 12)
        self.assertEqual(result["version"], "0.26.0")
        self.assertEqual(result["note"], "")
        self.assertFalse(seen["enable_prefix_caching"])
        self.assertEqual(seen["max_num_seqs"], 256)

    def test_gives_the_library_the_flags_of_the_server(self):
        seen, result = run(flags=["--enforce-eager", "--gpu-memory-utilization", "0.5", "--max-num-seqs", "8"])
        self.assertTrue(seen["enforce_eager"])
        self.assertEqual(seen["gpu_memory_utilization"], 0.5)
        self.assertEqual(seen["max_num_seqs"], 8)
        self.assertEqual(seen["model"], "a-model")
        self.assertNotIn("dtype", seen)
        self.assertEqual(result["note"], "")

    def test_says_which_flags_only_a_server_takes(self):
        seen, result = run(flags=["--dtype", "float32", "--uvicorn-log-level", "warning"])
        self.assertEqual(seen["dtype"], "float32")
        self.assertEqual(result["note"], "left out, for servers only: --uvicorn-log-level warning")

    def test_answers_end_at_the_models_own_end_unless_told_to_ignore_it(self):
        seen, result = run(ignore_eos=False)
        self.assertFalse(seen["sampling"].ignore_eos)
        self.assertEqual(result["output_tokens"], 4)

    def test_keeps_the_prefix_cache_where_it_was_asked_for(self):
        seen, _ = run(prefix_cache=True)
        self.assertTrue(seen["enable_prefix_caching"])


if __name__ == "__main__":
    unittest.main()
