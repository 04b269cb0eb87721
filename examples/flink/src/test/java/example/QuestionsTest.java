package example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;

/** A cluster of Flink within this process, whose two tasks share an engine. */
class QuestionsTest {
    private static List<String> answers(int tasks, List<String> questions) throws Exception {
        var environment = StreamExecutionEnvironment.createLocalEnvironment(tasks);
        List<String> all = new ArrayList<>();
        try (var answers = Questions.answers(environment.fromData(questions)).executeAndCollect()) {
            answers.forEachRemaining(all::add);
        }
        return all;
    }

    @Test
    void answersInOrderWhateverTheTasks() throws Exception {
        List<String> questions =
                IntStream.range(0, 40).mapToObj(i -> "What is " + i + " + 30?").toList();
        List<String> ofOne = answers(1, questions);
        assertEquals(40, ofOne.size());
        assertTrue(ofOne.get(12).contains("42"), ofOne.get(12));
        List<String> ofTwo = answers(2, questions);
        assertEquals(ofOne.stream().sorted().toList(), ofTwo.stream().sorted().toList());
    }
}
