package roselle.offline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OrderedRowsTest {
    private static final long PLENTY = 1 << 20;

    /** A row is its own answer, once whatever it waits for has happened; it takes as many tokens as it says. */
    private record FakeWork(Waits waits, int tokensOfNegative) implements RowWork<Integer, Integer> {
        interface Waits {
            void before(int row) throws InterruptedException;
        }

        @Override
        public Integer answer(Integer row) {
            try {
                waits.before(row);
                return row;
            } catch (InterruptedException broken) {
                throw new IllegalStateException("broken off", broken);
            }
        }

        @Override
        public long expectedTokens(Integer row) {
            return row < 0 ? tokensOfNegative : 10;
        }

        @Override
        public long rowBytes(Integer row) {
            return 500;
        }

        @Override
        public long answerBytes(Integer answer) {
            return 500;
        }
    }

    private static List<Integer> all(Iterator<Integer> answers) {
        List<Integer> list = new ArrayList<>();
        answers.forEachRemaining(list::add);
        return list;
    }

    @Test
    void keepsTheOrderWhateverEndsFirst() {
        var latches =
                IntStream.range(0, 20).mapToObj(_ -> new CountDownLatch(1)).toList();
        var work = new FakeWork(
                row -> { // each waits for the one behind it
                    if (row < 19) {
                        latches.get(row + 1).await();
                    }
                    latches.get(row).countDown();
                },
                10);
        var rows = IntStream.range(0, 20).boxed().toList();
        try (var answers = new OrderedRows<>(rows.iterator(), work, new RowPool(20), PLENTY)) {
            assertThat(all(answers)).isEqualTo(rows);
        }
    }

    @Test
    void readsNoFurtherAheadThanItMay() {
        var read = new AtomicInteger();
        var gate = new CountDownLatch(1);
        var rows = IntStream.range(0, 100)
                .boxed()
                .peek(_ -> read.incrementAndGet())
                .iterator();
        try (var answers = new OrderedRows<>(rows, new FakeWork(_ -> gate.await(), 10), new RowPool(100), 10 * 1012)) {
            assertThat(answers.hasNext()).isTrue();
            assertThat(read.get()).isBetween(10, 12); // a stream reads one row before it is asked
            gate.countDown();
            assertThat(all(answers)).hasSize(100);
        }
    }

    @Test
    void beginsLongRowsBeforeOthers() {
        var begun = Collections.synchronizedList(new ArrayList<Integer>());
        var allRead = new CountDownLatch(1);
        var rows = List.of(1, 2, 3, 4, 5, -6, 7);
        var work = new FakeWork(
                row -> {
                    begun.add(row);
                    allRead.await();
                },
                1000);
        try (var answers = new OrderedRows<>(telling(rows.iterator(), allRead), work, new RowPool(1), PLENTY)) {
            assertThat(all(answers)).isEqualTo(rows);
        }
        assertThat(begun).containsExactly(1, -6, 2, 3, 4, 5, 7);
    }

    /** The same rows; tells when it is asked behind the last. */
    private static Iterator<Integer> telling(Iterator<Integer> rows, CountDownLatch allRead) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                if (!rows.hasNext()) {
                    allRead.countDown();
                }
                return rows.hasNext();
            }

            @Override
            public Integer next() {
                return rows.next();
            }
        };
    }

    @Test
    void throwsAFailureInItsRowsPlace() {
        var work = new FakeWork(
                row -> {
                    if (row == 2) {
                        throw new IllegalArgumentException("row 2");
                    }
                },
                10);
        try (var answers = new OrderedRows<>(List.of(0, 1, 2, 3).iterator(), work, new RowPool(4), PLENTY)) {
            assertThat(answers.next()).isZero();
            assertThat(answers.next()).isOne();
            assertThatThrownBy(answers::next).hasMessage("row 2");
        }
    }

    @Test
    void breaksOffItsOwnRowsAlone() {
        var pool = new RowPool(2);
        var begun = new CountDownLatch(1);
        var broken = new CountDownLatch(1);
        var forever = new FakeWork(
                _ -> {
                    begun.countDown();
                    try {
                        new CountDownLatch(1).await();
                    } finally {
                        broken.countDown();
                    }
                },
                10);
        var gate = new CountDownLatch(1);
        var closed = new OrderedRows<>(List.of(1, 2, 3).iterator(), forever, pool, PLENTY);
        try (var others =
                new OrderedRows<>(List.of(1, 2, 3).iterator(), new FakeWork(_ -> gate.await(), 10), pool, PLENTY)) {
            assertThat(others.hasNext()).isTrue();
            gate.countDown();
            assertThat(closed.hasNext()).isTrue();
            begun.await();
            closed.close();
            broken.await();
            assertThat(all(others)).containsExactly(1, 2, 3);
            assertThatThrownBy(closed::next).isInstanceOf(CancellationException.class);
        } catch (InterruptedException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void callersTakeTurns() throws InterruptedException {
        var pool = new RowPool(1);
        var order = Collections.synchronizedList(new ArrayList<Integer>());
        var gate = new CountDownLatch(1);
        var end = new CountDownLatch(6);
        RowPool.Lane first = new RowPool.Lane();
        RowPool.Lane second = new RowPool.Lane();
        for (int row = 0; row < 4; row++) {
            pool.run(first, noting(row, order, gate, end), false);
        }
        pool.run(second, noting(10, order, gate, end), false);
        pool.run(second, noting(11, order, gate, end), false);
        gate.countDown();
        end.await();
        assertThat(order).containsExactly(0, 1, 10, 2, 11, 3);
    }

    private static Runnable noting(int row, List<Integer> order, CountDownLatch gate, CountDownLatch end) {
        return () -> {
            try {
                gate.await();
            } catch (InterruptedException failure) {
                throw new IllegalStateException(failure);
            }
            order.add(row);
            end.countDown();
        };
    }
}
