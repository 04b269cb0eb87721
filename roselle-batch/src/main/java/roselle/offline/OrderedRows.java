package roselle.offline;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The answers to one caller's rows, in their order, while later rows are worked on. One thread iterates and closes.
 *
 * <p>Rows are read ahead until those that are read and not yet taken, with their answers, hold {@code aheadBytes}. Among them a row that
 * is likely to take much longer than the others begins first: it would otherwise be what all wait for at the end.
 */
public final class OrderedRows<I, O> implements Iterator<O>, AutoCloseable {
    /** What a row takes beside its contents: futures, threads, places in queues. */
    private static final int ROW_OVERHEAD_BYTES = 512;

    /** How much longer than the mean a row must be to begin before others. */
    private static final int LONG = 4;

    private final Iterator<I> rows;
    private final RowWork<I, O> work;
    private final RowPool pool;
    private final long aheadBytes;
    private final RowPool.Lane lane = new RowPool.Lane();
    private final ArrayDeque<Row> window = new ArrayDeque<>();
    private final AtomicLong heldBytes = new AtomicLong();
    private long readRows;
    private long readTokens;
    private volatile boolean isClosed;

    /** A row that has been read, and its answer to be. */
    private final class Row implements Runnable {
        private final I input;
        private final long bytes;
        private final CompletableFuture<O> answer = new CompletableFuture<>();
        private long answerBytes;
        private @Nullable Thread thread;

        Row(I input) {
            this.input = input;
            bytes = work.rowBytes(input) + ROW_OVERHEAD_BYTES;
        }

        @Override
        public void run() {
            if (!begins()) {
                return;
            }
            try {
                O found = work.answer(input);
                answerBytes = work.answerBytes(found);
                heldBytes.addAndGet(answerBytes);
                answer.complete(found);
            } catch (Throwable failure) {
                answer.completeExceptionally(failure);
            }
        }

        private synchronized boolean begins() {
            thread = Thread.currentThread();
            return !isClosed;
        }

        synchronized void breakOff() {
            if (thread != null) {
                thread.interrupt(); // it is the row's alone, and may have ended
            }
        }
    }

    /**
     * Rows that are read on the thread that iterates.
     *
     * @param aheadBytes memory for rows and answers ahead of the one that is taken next; one row is always read
     */
    public OrderedRows(Iterator<I> rows, RowWork<I, O> work, RowPool pool, long aheadBytes) {
        this.rows = rows;
        this.work = work;
        this.pool = pool;
        this.aheadBytes = aheadBytes;
    }

    @Override
    public boolean hasNext() {
        readAhead();
        return !window.isEmpty();
    }

    /**
     * Waits for the next row's answer.
     *
     * @throws CancellationException if the thread is interrupted, or this was closed
     * @throws RuntimeException what the row's work threw
     */
    @Override
    public O next() {
        readAhead();
        Row first = window.poll();
        if (first == null) {
            throw new NoSuchElementException("all rows have been answered");
        }
        O answer = await(first.answer);
        heldBytes.addAndGet(-first.bytes - first.answerBytes);
        return answer;
    }

    private void readAhead() {
        while (!isClosed && (window.isEmpty() || heldBytes.get() < aheadBytes) && rows.hasNext()) {
            I input = rows.next();
            var row = new Row(input);
            heldBytes.addAndGet(row.bytes);
            window.add(row);
            pool.run(lane, row, isLong(work.expectedTokens(input)));
        }
    }

    private boolean isLong(long tokens) {
        boolean isLong = readRows > 0 && tokens > LONG * (readTokens / readRows);
        readRows++;
        readTokens += tokens;
        return isLong;
    }

    private O await(CompletableFuture<O> answer) {
        try {
            return answer.get();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted while a row was being answered");
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            if (failure.getCause() instanceof Error cause) {
                throw cause;
            }
            throw new IllegalStateException(failure);
        }
    }

    /** Breaks off what is being worked on, and forgets the rest. */
    @Override
    public void close() {
        isClosed = true;
        pool.clear(lane);
        for (Row row : window) {
            row.answer.cancel(false);
            row.breakOff();
        }
    }
}
