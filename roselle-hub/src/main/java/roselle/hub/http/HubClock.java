package roselle.hub.http;

import java.time.Duration;

/** Time as a client of the hub takes and spends it. */
public interface HubClock {
    /** The machine's. */
    HubClock SYSTEM = new HubClock() {
        @Override
        public long nanos() {
            return System.nanoTime();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    };

    long nanos();

    void sleep(Duration time) throws InterruptedException;
}
