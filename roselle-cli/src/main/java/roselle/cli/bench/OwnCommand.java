package roselle.cli.bench;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/** How this very program is started once more: the same Java, flags and classes. */
final class OwnCommand {
    private static final String MAIN = "roselle.cli.Main";

    /** Flags that are about this process alone: its classes, its record of a start, its descriptors, its debugger. */
    private static final List<String> OWN = List.of(
            "-XX:SharedArchiveFile",
            "-XX:DumpLoadedClassList",
            "-Droselle.standardError",
            "--module-path",
            "-Djdk.module",
            "-agentlib",
            "-javaagent");

    private OwnCommand() {}

    /** The words before those of a command line. */
    static List<String> words() {
        var words = new ArrayList<String>();
        words.add(ProcessHandle.current().info().command().orElse("java"));
        words.addAll(inherited(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        String modules = System.getProperty("jdk.module.path");
        words.addAll(
                modules == null
                        ? List.of("-cp", System.getProperty("java.class.path"), MAIN)
                        : List.of("-p", modules, "-m", "roselle.cli/" + MAIN));
        return words;
    }

    /** Of a process's flags, those that its children need as well. */
    static List<String> inherited(List<String> flags) {
        return flags.stream()
                .filter(flag -> OWN.stream().noneMatch(flag::startsWith))
                .toList();
    }
}
