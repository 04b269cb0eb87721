package roselle.hub.request;

import java.time.Duration;

/** Hears how a download gets on; called from several threads. */
public interface PullObserver {
    /** One that does not listen. */
    PullObserver SILENT = new PullObserver() {};

    /** The hub is asked what it has of a model. */
    default void asking(String host, HubName name) {}

    /** The network or the hub failed, which may pass: the same is tried again after a pause. */
    default void pausing(String failure, Duration pause) {}

    /** Bytes of the missing ones that are there now; negative where a server made them worthless. */
    default void received(long bytes) {}

    /** A file is there, whole and checked. */
    default void finished(String path, long size) {}

    /** Another process fetches a file, which is waited for. */
    default void waiting(String path) {}

    /** What was fetched of a file was not what the hub promised, and is fetched once more. */
    default void restarting(String path) {}
}
