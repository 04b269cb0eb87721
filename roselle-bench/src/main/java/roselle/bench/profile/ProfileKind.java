package roselle.bench.profile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import roselle.api.InvalidRequestException;

/** Ways to look into an engine at work. */
public enum ProfileKind {
    /** Java's flight recorder, for Roselle. */
    JFR,
    /** NVIDIA's Nsight Systems, around any command. */
    NSYS,
    /** PyTorch's profiler, which vLLM and SGLang start and stop by a request. */
    TORCH;

    private static final String RECORDING = "bench";

    public static ProfileKind of(String label) {
        return Arrays.stream(values())
                .filter(kind -> kind.label().equals(label))
                .findFirst()
                .orElseThrow(() -> new InvalidRequestException("there is no profile " + label + ": those are "
                        + Arrays.stream(values()).map(ProfileKind::label).collect(Collectors.joining(", "))));
    }

    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The file that it writes for an engine, or the folder. */
    public Path file(Path folder, String backend) {
        return switch (this) {
            case JFR -> folder.resolve(backend + ".jfr");
            case NSYS -> folder.resolve(backend + ".nsys-rep");
            case TORCH -> folder.resolve(backend + "-torch");
        };
    }

    /** A command that records while it runs. */
    public List<String> around(List<String> command, Path file) {
        var words = new ArrayList<>(command);
        switch (this) {
            case JFR -> words.add(1, "-XX:StartFlightRecording:name=" + RECORDING + ",settings=profile");
            case NSYS ->
                words.addAll(
                        0,
                        List.of(
                                "nsys",
                                "profile",
                                "--trace=cuda,nvtx,osrt",
                                "--force-overwrite=true",
                                "--output=" + file));
            case TORCH -> {} // by its environment
        }
        return words;
    }

    /**
     * The command that makes a process write its recording, while it still runs; empty where it does so by itself. A
     * server that halts at its end would lose it.
     */
    public List<String> writeOut(long process, Path file) {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        return this == JFR
                ? List.of(jcmd, Long.toString(process), "JFR.stop", "name=" + RECORDING, "filename=" + file)
                : List.of();
    }

    /** Variables for a command that records. */
    public Map<String, String> environment(Path file) {
        return this == TORCH
                ? Map.of("VLLM_TORCH_PROFILER_DIR", file.toString(), "SGLANG_TORCH_PROFILER_DIR", file.toString())
                : Map.of();
    }

    /** Whether it can look into an engine of a profile. */
    public boolean suits(String profile) {
        return switch (this) {
            case JFR -> profile.equals("roselle") || profile.equals("stub");
            case NSYS -> true;
            case TORCH -> profile.equals("vllm") || profile.equals("sglang");
        };
    }
}
