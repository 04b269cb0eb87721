package roselle.helidon;

import io.helidon.config.Config;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a node of the configuration may have: a key that is misspelt would else change nothing, and tell nobody. */
final class ConfigKeys {
    private static final Set<String> OF_MODELS =
            Set.of("model", "name", "embedding-model", "device", "context", "max-sequences", "chat");
    private static final Set<String> OF_CHAT = Set.of("temperature", "top-p", "top-k", "max-tokens", "seed");

    private ConfigKeys() {}

    static void requireKnown(Config config) {
        require(config, OF_MODELS);
        require(config.get("chat"), OF_CHAT);
    }

    private static void require(Config node, Set<String> known) {
        for (Config child : node.asNodeList().orElse(List.of())) {
            if (!known.contains(child.name())) {
                throw new IllegalArgumentException(
                        child.key() + " is no key of Roselle's: there are " + String.join(", ", new TreeSet<>(known)));
            }
        }
    }
}
