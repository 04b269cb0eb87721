package example;

import java.util.concurrent.TimeUnit;
import org.apache.flink.streaming.api.datastream.AsyncDataStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Questions in a stream of Flink, their answers out of it, in the same order. */
public final class Questions {
    /** Questions that a task has in the engine at a time: together the tasks of a machine keep its batch full. */
    private static final int AT_A_TIME = 32;

    private Questions() {}

    public static void main(String[] arguments) throws Exception {
        var environment = StreamExecutionEnvironment.getExecutionEnvironment();
        answers(environment.fromData("What is 12 + 30?", "What is 7 + 5?", "Who was the fox?"))
                .print();
        environment.execute("questions");
    }

    /** Checkpoints of Flink keep the questions that have no answer yet: they are asked again, and answered with the same bytes. */
    static DataStream<String> answers(DataStream<String> questions) {
        return AsyncDataStream.orderedWait(questions, new Answering(), 1, TimeUnit.HOURS, AT_A_TIME);
    }
}
