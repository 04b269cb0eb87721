package example;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ZooTest {
    @Test
    void tellsAStoryAndAnswersWithAnAnimal() throws Exception {
        var said = new ByteArrayOutputStream();
        PrintStream out = System.out;
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            Zoo.main(new String[0]);
        } finally {
            System.setOut(out);
        }
        String text = said.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("fox"), text);
        String animal = text.substring(text.lastIndexOf("Animal["));
        assertFalse(animal.isBlank());
        assertTrue(animal.matches("(?s)Animal\\[name=.{1,12}, legs=[0-8], food=(FISH|GRASS|EVERYTHING)]\\s*"), animal);
    }
}
