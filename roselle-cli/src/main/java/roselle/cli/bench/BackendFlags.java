package roselle.cli.bench;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import roselle.api.InvalidRequestException;
import roselle.bench.backend.Profile;
import roselle.bench.environment.Machine;
import roselle.bench.load.Endpoint;
import roselle.cli.report.Heading;

/** The options that say which engines are measured. */
@Heading("Engines")
final class BackendFlags {
    static final int MAX_GPUS = 4096;

    @Option(
            names = "--model",
            paramLabel = "MODEL",
            description = "The model that engines are started with and prompts are built for: what roselle run takes.")
    private @Nullable Path model;

    @Option(
            names = "--vocabulary",
            paramLabel = "N",
            description = "Build prompts of ids below N, where the model's files are not here.")
    private int vocabulary;

    @Option(
            names = "--backends",
            paramLabel = "[NAME:]PROFILE[=URL]",
            split = ",",
            defaultValue = "roselle",
            description =
                    "Engines, each started unless a URL says that it runs; profiles: roselle, vllm, sglang, trtllm,"
                            + " llamacpp, tgi, lmdeploy, ollama, triton, hf, stub, openai, chat; default: ${DEFAULT-VALUE}.")
    private List<String> backends = List.of();

    @Option(
            names = "--served-model",
            paramLabel = "NAME",
            defaultValue = "bench",
            description = "What endpoints call the model; default: ${DEFAULT-VALUE}.")
    private String servedModel = "";

    @Option(
            names = "--header",
            paramLabel = "NAME=VALUE",
            description = "A header of each request, such as Authorization.")
    private Map<String, String> headers = new LinkedHashMap<>();

    @Option(
            names = "--engine-flags",
            paramLabel = "WORDS",
            defaultValue = "",
            description = "Further arguments for engines that are started.")
    private String engineFlags = "";

    @Option(names = "--prefix-cache", description = "Leave prefix caches on; they are off otherwise.")
    private boolean hasPrefixCache;

    @Option(
            names = "--start-timeout",
            paramLabel = "S",
            defaultValue = "600",
            description = "Until an engine is ready; default: ${DEFAULT-VALUE} s.")
    private int startSeconds;

    @Option(
            names = "--gpus",
            paramLabel = "N",
            description =
                    "GPUs that each engine uses, for figures per GPU; default: 1 on a machine that has one, else 0.")
    private @Nullable Integer gpus;

    @Option(names = "--vllm-python", paramLabel = "FILE", description = "The Python that has vLLM; default: python3.")
    private String vllmPython = "python3";

    @Option(names = "--sglang-python", paramLabel = "FILE", description = "The Python that has SGLang.")
    private String sglangPython = "python3";

    @Option(names = "--trtllm-python", paramLabel = "FILE", description = "The Python that has TensorRT-LLM.")
    private String trtllmPython = "python3";

    @Option(names = "--hf-python", paramLabel = "FILE", description = "The Python that has transformers.")
    private String hfPython = "python3";

    @Nullable
    Path model() {
        return model;
    }

    int vocabulary() {
        return vocabulary;
    }

    /** The engines in the order of the command line. */
    List<NamedBackend> named() {
        List<NamedBackend> named = backends.stream().map(this::named).toList();
        if (named.stream().map(NamedBackend::name).distinct().count() < named.size()) {
            throw new InvalidRequestException(
                    "two backends have the same name: give them others, as in a:roselle,b:roselle");
        }
        return named;
    }

    private NamedBackend named(String item) {
        int equals = item.indexOf('=');
        String left = equals < 0 ? item : item.substring(0, equals);
        int colon = left.indexOf(':');
        Profile profile = Profile.of(left.substring(colon + 1));
        String name = colon < 0 ? left : left.substring(0, colon);
        Optional<URI> url = equals < 0 ? Optional.empty() : Optional.of(address(item.substring(equals + 1)));
        demandStart(profile, url);
        return new NamedBackend(name, profile, url, servedModel, headers, settings(profile));
    }

    private NamedBackend.Settings settings(Profile profile) {
        if (startSeconds < 1) {
            throw new InvalidRequestException("--start-timeout is " + startSeconds + ": it must be at least 1 s");
        }
        List<String> further =
                engineFlags.isBlank() ? List.of() : List.of(engineFlags.strip().split("\\s+"));
        return new NamedBackend.Settings(
                Optional.ofNullable(model),
                python(profile),
                further,
                Map.of(),
                hasPrefixCache,
                Duration.ofSeconds(startSeconds),
                gpus(Optional.ofNullable(gpus)));
    }

    /** What was said, or one card where there is any: engines take one unless they are told otherwise. */
    static int gpus(Optional<Integer> said) {
        int count = said.orElseGet(() -> Machine.gpus().isEmpty() ? 0 : 1);
        if (count < 0 || count > MAX_GPUS) {
            throw new InvalidRequestException("gpus is " + count + ": it must be from 0 to " + MAX_GPUS);
        }
        return count;
    }

    private String python(Profile profile) {
        return switch (profile.label()) {
            case "vllm" -> vllmPython;
            case "sglang" -> sglangPython;
            case "trtllm" -> trtllmPython;
            case "hf" -> hfPython;
            default -> "python3";
        };
    }

    /** Complains of an engine that somebody else has to start, without its address. */
    static void demandStart(Profile profile, Optional<URI> url) {
        if (url.isEmpty() && profile.command().isEmpty()) {
            throw new InvalidRequestException(profile.label() + " is not started here: name its address, as in "
                    + profile.label() + "=http://host:port");
        }
    }

    /** An address that requests can be sent to. */
    static URI address(String text) {
        try {
            return new Endpoint(URI.create(text), Map.of()).uri();
        } catch (IllegalArgumentException malformed) {
            throw new InvalidRequestException(text + " is no address: write http://host:port", malformed);
        }
    }

    /** The words of the command line as they were given. */
    static List<String> commandLine(CommandSpec specification) {
        return specification.root().commandLine().getParseResult().originalArgs();
    }
}
