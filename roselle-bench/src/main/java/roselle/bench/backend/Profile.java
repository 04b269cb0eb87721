package roselle.bench.backend;

import static roselle.bench.backend.RequestShape.Field.IGNORE_EOS;
import static roselle.bench.backend.RequestShape.Field.MIN_TOKENS;
import static roselle.bench.backend.RequestShape.Field.RESPONSE_FORMAT;
import static roselle.bench.backend.RequestShape.Field.TOP_K;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/**
 * Engines that are known here: how to start each and what its API takes.
 *
 * <p>In a command {@code {roselle}} stands for this very program, {@code {python}} for the engine's own Python, {@code
 * {model}}, {@code {name}} and {@code {port}} for what they say, {@code {beside:PROGRAM}} for a program in the folder of that
 * Python, or on the path where there is none. Prefix caches are off unless they are asked for, since
 * they change what is measured; where a command line cannot do that, the note says so. docs/guide/benchmark.md tells which
 * version's documentation each command was checked against.
 *
 * @param command with placeholders; empty for engines that somebody else starts
 * @param withoutPrefixCache arguments that turn its prefix cache off
 * @param healthPath answers 200 once the engine can make a token
 * @param note what a reader of the figures has to know of it; often empty
 */
public record Profile(
        String label,
        List<String> command,
        List<String> withoutPrefixCache,
        String healthPath,
        RequestShape shape,
        String note) {
    private static final RequestShape EVERYTHING =
            new RequestShape("/v1/completions", true, Set.of(TOP_K, MIN_TOKENS, IGNORE_EOS), Map.of(), Map.of());
    private static final RequestShape WITH_FORMATS = EVERYTHING.with(RESPONSE_FORMAT);
    private static final Set<String> NEED_FOLDER = Set.of("vllm", "sglang", "trtllm", "tgi", "lmdeploy", "hf");
    private static final RequestShape TEXT_ONLY =
            new RequestShape("/v1/completions", false, Set.of(), Map.of(), Map.of());

    static final Profile ROSELLE = new Profile(
            "roselle",
            List.of("{roselle}", "serve", "{model}", "--port", "{port}", "--model-name", "{name}"),
            List.of("--no-prefix-cache"),
            "/ready",
            WITH_FORMATS,
            "");
    static final Profile VLLM = new Profile(
            "vllm",
            List.of(
                    "{python}",
                    "-m",
                    "vllm.entrypoints.openai.api_server",
                    "--model",
                    "{model}",
                    "--served-model-name",
                    "{name}",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    "{port}"),
            List.of("--no-enable-prefix-caching"),
            "/health",
            WITH_FORMATS,
            "");
    static final Profile SGLANG = new Profile(
            "sglang",
            List.of(
                    "{python}",
                    "-m",
                    "sglang.launch_server",
                    "--model-path",
                    "{model}",
                    "--served-model-name",
                    "{name}",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    "{port}"),
            List.of("--disable-radix-cache"),
            "/health_generate",
            EVERYTHING,
            "");
    static final Profile TRTLLM = new Profile(
            "trtllm",
            List.of("{beside:trtllm-serve}", "serve", "{model}", "--host", "127.0.0.1", "--port", "{port}"),
            List.of("--extra_llm_api_options", "{driver:trtllm_without_reuse.yaml}"),
            "/health",
            EVERYTHING,
            "");
    static final Profile LLAMACPP = new Profile(
            "llamacpp",
            List.of("llama-server", "-m", "{model}", "--alias", "{name}", "--host", "127.0.0.1", "--port", "{port}"),
            List.of("--no-cache-prompt", "--cache-ram", "0"),
            "/health",
            new RequestShape(
                    "/v1/completions",
                    true,
                    Set.of(TOP_K, IGNORE_EOS),
                    Map.of("min_p", 0),
                    Map.of("cache_prompt", false)),
            "-np sets how many run at a time, and -c the context that those share");
    static final Profile TGI = new Profile(
            "tgi",
            List.of(
                    "env",
                    "PREFIX_CACHING=0",
                    "text-generation-launcher",
                    "--model-id",
                    "{model}",
                    "--hostname",
                    "127.0.0.1",
                    "--port",
                    "{port}"),
            List.of(),
            "/health",
            TEXT_ONLY,
            "its completions take text only and do not ignore the end of text; its prefix cache stays off unless a"
                    + " command without PREFIX_CACHING=0 is given");
    static final Profile LMDEPLOY = new Profile(
            "lmdeploy",
            List.of(
                    "{beside:lmdeploy}",
                    "serve",
                    "api_server",
                    "{model}",
                    "--model-name",
                    "{name}",
                    "--server-name",
                    "127.0.0.1",
                    "--server-port",
                    "{port}"),
            List.of(),
            "/health",
            new RequestShape("/v1/completions", false, Set.of(TOP_K, IGNORE_EOS), Map.of(), Map.of()),
            "its prefix cache is off unless --enable-prefix-caching is given");
    static final Profile OLLAMA = new Profile(
            "ollama",
            List.of("env", "OLLAMA_HOST=127.0.0.1:{port}", "ollama", "serve"),
            List.of(),
            "/api/version",
            TEXT_ONLY,
            "the model has to be pulled before and named by its name there; its completions take text only, put the"
                    + " model's template around it, have no top-k and do not ignore the end of text; a prompt beyond the"
                    + " context is cut without a word; one request runs at a time unless OLLAMA_NUM_PARALLEL says more,"
                    + " and OLLAMA_CONTEXT_LENGTH sets the context");
    static final Profile TRITON = new Profile(
            "triton",
            List.of(),
            List.of(),
            "/health/ready",
            new RequestShape("/v1/completions", false, Set.of(MIN_TOKENS, IGNORE_EOS), Map.of(), Map.of()),
            "start its OpenAI front end yourself and name its address and, as the served model, the model of its"
                    + " repository; its completions take text only and no top-k");
    static final Profile HF = new Profile(
            "hf",
            List.of("{python}", "{driver:hf_server.py}", "--model", "{model}", "--port", "{port}"),
            List.of("--no-prefix-cache"),
            "/health",
            EVERYTHING,
            "Hugging Face transformers behind a small server of this benchmark: its continuous batching, or static batches;"
                    + " the version tells which");
    static final Profile STUB = new Profile(
            "stub",
            List.of("{roselle}", "bench", "stub", "--port", "{port}"),
            List.of(),
            "/v1/models",
            EVERYTHING,
            "it has no model: its tokens come when its script says");
    static final Profile OPENAI = new Profile(
            "openai", List.of(), List.of(), "/v1/models", TEXT_ONLY, "any endpoint of OpenAI's completions; text only");

    static final Profile CHAT = new Profile(
            "chat",
            List.of(),
            List.of(),
            "/v1/models",
            new RequestShape("/v1/chat/completions", false, Set.of(RESPONSE_FORMAT), Map.of(), Map.of()),
            "any endpoint of OpenAI's chat completions; text only, and its template makes prompts longer than asked for");

    private static final List<Profile> ALL =
            List.of(ROSELLE, VLLM, SGLANG, TRTLLM, LLAMACPP, TGI, LMDEPLOY, OLLAMA, TRITON, HF, STUB, OPENAI, CHAT);

    public Profile {
        command = List.copyOf(command);
        withoutPrefixCache = List.copyOf(withoutPrefixCache);
    }

    /** Whether it reads a folder of safetensors and no GGUF file. */
    public boolean needsFolder() {
        return NEED_FOLDER.contains(label);
    }

    public static Profile of(String label) {
        return ALL.stream()
                .filter(profile -> profile.label().equals(label))
                .findFirst()
                .orElseThrow(
                        () -> new InvalidRequestException("there is no profile " + label + ": those are " + labels()));
    }

    /** All names, as a list for people. */
    public static String labels() {
        return ALL.stream().map(Profile::label).collect(Collectors.joining(", "));
    }
}
