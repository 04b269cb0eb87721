package roselle.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** How this very program is started once more: the same Java, flags and classes. */
final class OwnCommand {
    private OwnCommand() {}

    /** The words before those of a command line. */
    static List<String> words(Map<String, String> environment) {
        var words = new ArrayList<String>();
        words.add(ProcessHandle.current().info().command().orElse("java"));
        String options = environment.getOrDefault("ROSELLE_JAVA_OPTIONS", "");
        words.addAll(List.of(options.isBlank() ? new String[0] : options.strip().split("\\s+")));
        String modules = System.getProperty("jdk.module.path");
        if (modules == null) {
            words.addAll(List.of("--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"));
            words.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        } else {
            words.add("--enable-native-access=roselle.engine,org.jline");
            words.addAll(List.of("-p", modules, "-m", "roselle.cli/" + Main.class.getName()));
        }
        return words;
    }
}
