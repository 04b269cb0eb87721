package roselle.engine.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import roselle.api.ChatMessage;
import roselle.api.InvalidRequestException;
import roselle.api.Prompt;
import roselle.checkpoint.path.Checkpoints;
import roselle.conversation.FormatFinder;

/** Templates that requests bring: which are kept, and what is known of them. */
final class ChatFormsTest {
    private static final Path MODEL = Path.of("src/test/resources/demo-model");
    private static final String CALLS = "{{ range .Messages }}{{ .Content }}{{ range .ToolCalls }}<tool_call>"
            + "{\"name\": \"{{ .Function.Name }}\", \"arguments\": {{ .Function.Arguments }}}</tool_call>{{ end }}{{ end }}";

    private static ChatForms forms() {
        try (var checkpoint = Checkpoints.open(MODEL)) {
            return new ChatForms(checkpoint, checkpoint.tokenizer(), FormatFinder.AUTO);
        }
    }

    @Test
    void aPromptWithoutATemplateHasTheModelsForm() {
        var forms = forms();
        var chat = new Prompt.Chat(List.of(ChatMessage.user("Hello")), List.of(), Map.of());

        assertThat(forms.of(chat)).isSameAs(forms.own());
        assertThat(forms.of(new Prompt.Text("Hello", true, false))).isSameAs(forms.own());
        assertThat(forms.of(chat.by("{{ .Prompt }}"))).isNotSameAs(forms.own());
    }

    @Test
    void keepsTheFormsThatWereUsedLast() {
        var forms = forms();
        ChatForm first = forms.of("{{ .Prompt }}");
        for (int other = 0; other < 31; other++) {
            forms.of("{{ .Prompt }}" + other);
        }
        assertThat(forms.of("{{ .Prompt }}")).isSameAs(first);
        for (int other = 0; other < 32; other++) {
            forms.of("{{ .Prompt }}" + other);
        }
        assertThat(forms.of("{{ .Prompt }}")).isNotSameAs(first);
    }

    @Test
    void keepsNoMoreCharactersThanItMay() {
        var forms = forms();
        ChatForm first = forms.of("{{ .Prompt }}");
        forms.of("{{ .Prompt }}" + "x".repeat((1 << 20) - 13));

        assertThat(forms.of("{{ .Prompt }}")).isNotSameAs(first);
    }

    @Test
    void callsAreFoundWhereTheTemplateTellsOfTools() {
        var forms = forms();

        assertThat(forms.of("{{ .Tools }}" + CALLS).withTools().toolParser()).isEqualTo("hermes");
        assertThat(forms.of(CALLS).withTools().canCall()).isFalse();
        assertThat(forms.of(CALLS).mentions("tools")).isFalse();
        assertThatThrownBy(() -> forms.of("{{ .Tools")).isInstanceOf(InvalidRequestException.class);
    }
}
