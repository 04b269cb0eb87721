package example;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class BotTest {
    @Test
    void answersWholeAndInPieces() throws Exception {
        var said = new ByteArrayOutputStream();
        PrintStream out = System.out;
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            Bot.main(new String[0]);
        } finally {
            System.setOut(out);
        }
        String text = said.toString(StandardCharsets.UTF_8);
        assertTrue(text.lines().findFirst().orElseThrow().contains("42"), text);
        assertTrue(text.contains("fox"), text);
    }
}
