package roselle.cpu.row;

/** An operation that treats each row on its own. */
public interface RowOperation {
    /** Treats the rows {@code first} until {@code end}; {@code scratch} is the calling thread's. */
    void run(Scratch scratch, int first, int end);
}
