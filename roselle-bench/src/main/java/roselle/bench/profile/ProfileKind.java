package roselle.bench.profile;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import roselle.api.InvalidRequestException;

/** Ways to look into an engine at work. */
public enum ProfileKind {
    /** Java's flight recorder, for Roselle. */
    JFR,
    /** NVIDIA's Nsight Systems, around any command: launched in a session, recorded from one command to another. */
    NSYS,
    /** PyTorch's profiler, which vLLM, SGLang and our server around transformers start and stop by a request. */
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

    /**
     * A command that records while it runs, or once it is told to.
     *
     * @param engine the label of its profile
     */
    public List<String> around(String engine, List<String> command, Path file) {
        var words = new ArrayList<>(command);
        switch (this) {
            case JFR -> words.add(1, "-XX:StartFlightRecording:name=" + RECORDING + ",settings=profile");
            case NSYS ->
                words.addAll(0, List.of("nsys", "launch", "--session-new=" + session(file), "--trace=cuda,nvtx,osrt"));
            case TORCH -> {
                if (engine.equals("vllm")) {
                    words.add("--profiler-config");
                    words.add("{\"profiler\":\"torch\",\"torch_profiler_dir\":" + quoted(file) + "}");
                }
            }
        }
        return words;
    }

    /** Variables for a command that records. */
    public Map<String, String> environment(Path file) {
        return this == TORCH
                ? Map.of("SGLANG_TORCH_PROFILER_DIR", file.toString(), "PROFILE_FOLDER", file.toString())
                : Map.of();
    }

    /** Whether the engine itself is asked, at {@code /start_profile} and {@code /stop_profile}. */
    public boolean isAskedOfTheEngine() {
        return this == TORCH;
    }

    /** The command that begins a recording once the engine is ready; empty where none is needed. */
    public List<String> begin(Path file) {
        return this == NSYS
                ? List.of("nsys", "start", "--session=" + session(file), "--force-overwrite=true", "--output=" + file)
                : List.of();
    }

    /**
     * The command that makes a recording be written while the process still runs; empty where it does so by itself. A
     * server that halts at its end would lose it.
     */
    public List<String> end(long process, Path file) {
        String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        return switch (this) {
            case JFR -> List.of(jcmd, Long.toString(process), "JFR.stop", "name=" + RECORDING, "filename=" + file);
            case NSYS -> List.of("nsys", "stop", "--session=" + session(file));
            case TORCH -> List.of();
        };
    }

    /** A name of letters and digits that no other recording on this machine has. */
    private static String session(Path file) {
        return "bench" + ProcessHandle.current().pid() + "x" + Integer.toHexString(file.hashCode());
    }

    private static String quoted(Path file) {
        return '"' + file.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /** What a recording left: its file, or what nsys writes where it cannot make that of it. */
    public List<Path> written(Path file) {
        String name = String.valueOf(file.getFileName()).replace(".nsys-rep", ".qdstrm");
        return Stream.of(file, file.resolveSibling(name))
                .distinct()
                .filter(each -> !Manifest.isEmpty(each))
                .toList();
    }

    /** Whether it can look into an engine of a profile. */
    public boolean suits(String profile) {
        return switch (this) {
            case JFR -> profile.equals("roselle") || profile.equals("stub");
            case NSYS -> true;
            case TORCH -> Set.of("vllm", "sglang", "hf").contains(profile);
        };
    }
}
