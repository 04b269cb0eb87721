package roselle.server.responses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import roselle.server.http.ApiException;
import roselle.server.responses.ResponseStore.Kept;

final class ResponseStoreTest {
    private final ResponseStore store = new ResponseStore();

    private static Kept response(String key, int characters) {
        return new Kept(key, List.of(), true, false, "x".repeat(characters), List.of());
    }

    @Test
    void manyOfOneKeyTakeNoneOfAnothers() {
        store.keep("modest", response("bob", 10));
        for (int i = 0; i < 2 * ResponseStore.MAX_RESPONSES; i++) {
            store.keep("greedy" + i, response("alice", 10));
        }
        assertThat(store.find("modest", "bob").body()).hasSize(10);
        assertThatThrownBy(() -> store.find("greedy0", "alice")).isInstanceOf(ApiException.class);
        assertThat(store.find("greedy2047", "alice").body()).hasSize(10);
    }

    @Test
    void whatIsKeptAgainTakesThePlaceOfWhatWasKept() {
        for (int i = 0; i < 2 * ResponseStore.MAX_RESPONSES; i++) {
            store.keep("one", response("alice", i));
        }
        store.keep("other", response("alice", 7));
        assertThat(store.find("one", "alice").body()).hasSize(2 * ResponseStore.MAX_RESPONSES - 1);
        assertThat(store.find("other", "alice").body()).hasSize(7);
    }

    @Test
    void largeOnesOfOneKeyTakeNoneOfAnothers() {
        store.keep("modest", response("bob", 10));
        for (int i = 0; i < 20; i++) {
            store.keep("greedy" + i, response("alice", 4 << 20));
        }
        assertThat(store.find("modest", "bob").body()).hasSize(10);
        assertThatThrownBy(() -> store.find("greedy0", "alice")).isInstanceOf(ApiException.class);
        assertThat(store.find("greedy19", "alice").body()).hasSize(4 << 20);
    }

    @Test
    void anothersIsNotThere() {
        store.keep("id", response("alice", 10));
        assertThatThrownBy(() -> store.find("id", "bob")).isInstanceOf(ApiException.class);
        assertThatThrownBy(() -> store.remove("id", "bob")).isInstanceOf(ApiException.class);
        store.remove("id", "alice");
        assertThatThrownBy(() -> store.find("id", "alice")).isInstanceOf(ApiException.class);
    }
}
