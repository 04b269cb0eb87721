package roselle.server.events;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import roselle.api.PageEvent;
import roselle.api.PageEvent.Scope;

/**
 * Events of one engine as vLLM's subscribers read them (vllm/distributed/kv_events.py): {@code [time, events, rank]}, of which
 * each event is an array that begins with its name. Pages that follow one another make one event, and those that leave another.
 *
 * <p>Pages that continue ones of which nobody was told are left out: a subscriber could not place them.
 */
final class EventBatch {
    private final PageHashes hashes;
    private final int pageTokens;
    private final UnaryOperator<String> adapterName; // by the digest of its files
    private final List<byte[]> events = new ArrayList<>();
    private final List<Long> stored = new ArrayList<>();
    private final List<Integer> tokens = new ArrayList<>();
    private final List<Long> removed = new ArrayList<>();
    private OptionalLong before = OptionalLong.empty(); // what the first of stored continues
    private Optional<Scope> scope = Optional.empty(); // of the first of stored, where it begins prompts
    private long last; // the engine's number of the last of stored

    EventBatch(PageHashes hashes, int pageTokens, UnaryOperator<String> adapterName) {
        this.hashes = hashes;
        this.pageTokens = pageTokens;
        this.adapterName = adapterName;
    }

    EventBatch add(List<PageEvent> all) {
        all.forEach(this::add);
        return this;
    }

    private void add(PageEvent event) {
        switch (event) {
            case PageEvent.Stored page -> store(page);
            case PageEvent.Removed page -> remove(page);
            case PageEvent.Lost _ -> clear();
        }
    }

    private void store(PageEvent.Stored page) {
        endRemoved();
        OptionalLong above = hashes.of(page.parent());
        OptionalLong hash = hashes.add(page.page(), page.parent(), page.tokens(), page.scope());
        if (hash.isEmpty()) {
            return;
        }
        if (stored.isEmpty() || page.parent() != last) {
            endStored();
            before = above;
            scope = page.scope();
        }
        stored.add(hash.getAsLong());
        tokens.addAll(page.tokens());
        last = page.page();
    }

    private void remove(PageEvent.Removed page) {
        endStored();
        hashes.remove(page.page()).ifPresent(removed::add);
    }

    /** What was told before holds no more. */
    EventBatch clear() {
        endStored();
        endRemoved();
        hashes.clear();
        events.add(new MessagePack().array(1).text("AllBlocksCleared").bytes());
        return this;
    }

    private void endStored() {
        if (stored.isEmpty()) {
            return;
        }
        var event = new MessagePack().array(9).text("BlockStored");
        hashes(event, stored);
        before.ifPresentOrElse(event::unsigned, event::nil);
        event.array(tokens.size());
        tokens.forEach(token -> event.unsigned(token));
        event.unsigned(pageTokens).nil().nil(); // the adapter's number and the medium: the device's own memory
        String adapter = scope.map(Scope::adapter).orElse("");
        if (adapter.isEmpty()) {
            event.nil();
        } else {
            event.text(adapterName.apply(adapter));
        }
        extraKeys(event, scope.map(Scope::salt).orElse(""));
        events.add(event.bytes());
        stored.clear();
        tokens.clear();
    }

    /** For each page what its hash depends on beside tokens: the salt, of the page where prompts begin. */
    private void extraKeys(MessagePack event, String salt) {
        if (salt.isEmpty()) {
            event.nil();
            return;
        }
        event.array(stored.size()).array(1).text(salt);
        for (int page = 1; page < stored.size(); page++) {
            event.nil();
        }
    }

    private void endRemoved() {
        if (!removed.isEmpty()) {
            var event = new MessagePack().array(3).text("BlockRemoved");
            hashes(event, removed);
            events.add(event.nil().bytes());
            removed.clear();
        }
    }

    private static void hashes(MessagePack event, List<Long> all) {
        event.array(all.size());
        all.forEach(event::unsigned);
    }

    boolean isEmpty() {
        return events.isEmpty() && stored.isEmpty() && removed.isEmpty();
    }

    /** The batch, made at a time in seconds since 1970. */
    byte[] bytes(double seconds) {
        endStored();
        endRemoved();
        var batch = new MessagePack().array(3).number(seconds).array(events.size());
        events.forEach(batch::written);
        return batch.unsigned(0).bytes(); // the rank among servers that share the work: there is one
    }
}
