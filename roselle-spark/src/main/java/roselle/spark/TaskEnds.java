package roselle.spark;

import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;

/** What is done when a task ends, however it ends: the latest is done first. */
final class TaskEnds {
    private TaskEnds() {}

    static void add(TaskContext task, Runnable end) {
        TaskCompletionListener listener = _ -> end.run();
        task.addTaskCompletionListener(listener);
    }
}
