package roselle.conversation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class EffortTest {
    private static Effort of(String... mentioned) {
        return new Effort(Set.of(mentioned)::contains);
    }

    @Test
    void tellsATemplateInItsOwnWords() {
        assertThat(of("reasoning_effort", "enable_thinking").think("low")).contains(Map.of("reasoning_effort", "low"));
        assertThat(of("enable_thinking").think("low")).contains(Map.of("enable_thinking", true));
        assertThat(of("enable_thinking").think("none")).contains(Map.of("enable_thinking", false));
        assertThat(of("verbosity").write("high")).contains(Map.of("verbosity", "high"));
    }

    @Test
    void switchesNothingOnWhereItScalesAlone() {
        assertThat(of("reasoning_effort").scale("low")).contains(Map.of("reasoning_effort", "low"));
        assertThat(of("enable_thinking").scale("low")).contains(Map.of());
        assertThat(of().scale("low")).isEmpty();
    }

    @Test
    void hasNoWordForWhatATemplateDoesNotKnow() {
        assertThat(of().think("low")).isEmpty();
        assertThat(of().write("high")).isEmpty();
    }

    @Test
    void needsNoWordForWhatATemplateDoesAnyway() {
        assertThat(of().think("none")).contains(Map.of());
        assertThat(of().write("medium")).contains(Map.of());
    }
}
