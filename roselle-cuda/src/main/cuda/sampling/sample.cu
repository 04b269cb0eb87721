// Logits to tokens, as roselle.sampling.Sampler does it: the same changes, order of filters, ties and random numbers.
//
// For each row: refuse NaN and infinity; log-probabilities of the raw logits where asked; repetition, frequency and presence
// penalties, bias, mask, stop tokens that come too early; then the likeliest token (temperature 0) or temperature, top-k,
// top-p, min-p and, of what they keep, the token with the least noise(seed, position, id) / weight. Tokens are ordered by logit,
// of equal ones the lower id first; every filter keeps a beginning of that order, so what is kept is all up to a limit, and
// nothing is sorted.
//
// For top-p, weights are exp((logit - largest) / temperature) in float64, rounded to multiples of 2^-44 (2^-52 in the list) and
// summed as integers: exact, so neither the order of atomics nor `parts` matters. The host sums float64 in order of ids; both
// keep the same but for sums within about 1e-11 of top-p. Of what is kept they draw the same token, bit by bit (noise.cuh).
//
// A row belongs to `parts` blocks, a cluster (parts, 1, 1), each with a range of ids; 1 where there are no clusters. Where
// the kept tokens are among at most 512 that a histogram of 256 bins of 1/8 finds, they go to a list and the first block
// ranks them each against each; else the limits are found by digits of 8 bits over all of the row.
//
// Grid (parts, rows), 512 threads, dynamic shared memory 8 * ceil(range / 32) bytes, and 4 * range more where inShared is 1,
// with range = ceil(ceil(vocabulary / parts) / 32) * 32. vocabulary < 2^19. Memory that is the kernel's own, per row:
// numbers float32 [vocabulary]; counts u32 [vocabulary], zeros, left as zeros; exchange u64 [2, parts, 256]; lists u64
// [2, 512 + 1], the first number of each 0, left as 0. Chosen tokens go to results and tokens (0 after a failure), and to
// history[length] where the row says so. A row with a negative temperature only fills the grid. Results may lie in the
// host's memory.
#include "sampling/noise.cuh"
#include "sampling/selection.cuh"

constexpr int MOST_LOGPROBS = 20;
constexpr u64 NEVER = 0x7FF0000000000000ull;  // the time of what does not run: infinity

enum Failure { FINE, NOT_A_NUMBER, INFINITE_LOGIT, NO_FINITE_LOGIT, NONE_ALLOWED, INFINITE_CHANGE };

struct SampleRow {
    double temperature;
    double topP;  // 1 keeps all
    double minP;  // 0 keeps all
    u64 seed;
    i64 position;  // of the token to be sampled
    int* history;  // the tokens before it, prompt first; may be null without penalties
    const int* biasIds;
    const float* biases;
    const int* stopIds;  // forbidden
    const u64* mask;  // bit t % 64 of word t / 64: t is allowed; null for all
    int topK;  // 0 keeps all
    int promptLength;
    int historyLength;
    int biasCount;
    int stopCount;  // 0 once there are enough tokens
    int topLogprobs;  // -1 for no log-probabilities
    int appends;  // whether the token goes to history[historyLength]
    float repetition;
    float presence;
    float frequency;
};

struct SampleResult {
    int token;  // -1 after a failure
    int failure;  // Failure
    float chosen;
    int count;
    int ids[MOST_LOGPROBS];
    float logprobs[MOST_LOGPROBS];
};

// The largest rank of a row, the first token that has it, and how many tokens are possible, where that is asked for.
struct Survey {
    u32 most;
    int token;
    int possible;
};

// Of all numbers, each of which `take(i, number)` has, too.
template <class TAKE>
__device__ __forceinline__ Survey survey(Team& team, const Range& range, bool counts, TAKE take) {
    u32 most = 0;
    int at = 0;
    u32 possible = 0;
    each<16>(range, [&](int i, float x) {
        take(i, x);
        u32 rank = rankOf(x);
        at = rank > most ? i : at;
        most = max(most, rank);
        possible += rank > IMPOSSIBLE;
    });
    u64 first = overTeam<true>(team, (u64)most << 32 | ~(u32)(range.first + at));  // the lowest id is the most of ~id
    return {(u32)(first >> 32), (int)~(u32)first, counts ? (int)overTeam<false>(team, (u64)possible) : 0};
}

// Natural logarithm of the sum of the exponentials, and the likeliest tokens.
__device__ __forceinline__ double report(
    Team& team, const Range& range, u64* bins, u64* tokens, Survey row, int wanted, SampleResult& result) {
    float largest = ofRank(row.most);
    Scale scale(largest, 1.0);
    u64 mine = 0;
    each<4>(range, [&](int, float x) { mine += isPossible(x) ? scale.mass(x) : 0; });
    u64 total = overTeam<false>(team, mine);
    double logSum = largest + log((double)total / GRID_UNIT);
    wanted = min(wanted, MOST_LOGPROBS);
    if (wanted > 0) {
        int count;
        if (row.possible >= wanted) {
            count = gatherMost(team, range, bins, largest, wanted, team.lists, tokens);
        } else {  // impossible ones follow, the lowest ids first
            u64 limit = placeOf(team, range, bins, wanted, One{}, [](float, u64) { return true; });
            count = gather(team, range, team.lists, tokens, [=](float, u64 at) { return at <= limit; });
        }
        if ((int)threadIdx.x < count) {
            u64 own = tokens[threadIdx.x];
            int rank = 0;
            for (int j = 0; j < count; j++) {
                rank += tokens[j] < own;
            }
            if (rank < wanted) {
                result.ids[rank] = idAt(own);
                result.logprobs[rank] = (float)(ofRank(rankAt(own)) - logSum);
            }
        }
        if (team.part == 0 && threadIdx.x == 0) {
            result.count = min(wanted, count);
        }
    }
    return logSum;
}

__device__ __forceinline__ bool punishes(const SampleRow& row) {
    return row.repetition != 1.0f || row.presence != 0.0f || row.frequency != 0.0f;
}

__device__ __forceinline__ bool changes(const SampleRow& row) {
    return punishes(row) || row.biasCount > 0 || row.stopCount > 0 || row.mask;
}

// Penalties, bias, mask and stop tokens, in the order of the engine's sampler.
__device__ __forceinline__ void change(const SampleRow& row, const Range& range, u32* counts) {
    constexpr u32 SEEN = 0x80000000u;
    if (punishes(row)) {
        for (int i = threadIdx.x; i < row.historyLength; i += THREADS) {
            int id = row.history[i] - range.first;
            if (id >= 0 && id < range.count) {
                atomicOr(&counts[range.first + id], SEEN);
                if (i >= row.promptLength) {
                    atomicAdd(&counts[range.first + id], 1u);
                }
            }
        }
        __syncthreads();
        for (int i = threadIdx.x; i < range.count; i += THREADS) {
            u32 count = __ldcg(counts + range.first + i);
            if (count != 0) {
                counts[range.first + i] = 0;
                float x = range.numbers[i];
                x = row.repetition == 1.0f ? x : x > 0.0f ? __fdiv_rn(x, row.repetition) : __fmul_rn(x, row.repetition);
                count &= ~SEEN;
                if (count != 0 && (row.presence != 0.0f || row.frequency != 0.0f)) {
                    x = __fsub_rn(__fsub_rn(x, __fmul_rn(row.frequency, (float)count)), row.presence);
                }
                range.numbers[i] = x;
            }
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < row.biasCount; i += THREADS) {
        int id = row.biasIds[i] - range.first;
        if (id >= 0 && id < range.count) {
            range.numbers[id] = __fadd_rn(range.numbers[id], row.biases[i]);
        }
    }
    __syncthreads();
    float impossible = __int_as_float(0xFF800000);
    if (row.mask) {
        for (int i = threadIdx.x; i < range.count; i += THREADS) {
            int id = range.first + i;
            if (!(row.mask[id / 64] >> id % 64 & 1)) {
                range.numbers[i] = impossible;
            }
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < row.stopCount; i += THREADS) {
        int id = row.stopIds[i] - range.first;
        if (id >= 0 && id < range.count) {
            range.numbers[id] = impossible;
        }
    }
    __syncthreads();
}

// Filters and draws among `count` listed tokens, in the first block. `total` is the mass of all that top-p sees, or negative.
__device__ __forceinline__ int drawFromList(
    const SampleRow& row, const Scale& scale, const u64* tokens, u64* masses, int count, int topK, double total) {
    bool isMine = (int)threadIdx.x < count;
    u64 own = isMine ? tokens[threadIdx.x] : ~0ull;
    double weight = isMine ? scale.weight(ofRank(rankAt(own))) : 0.0;
    u64 mass = isMine ? (u64)__fma_rn(weight, LIST_UNIT, 0.5) : 0;
    bool isKept = isMine;
    if (topK > 0) {
        int before = 0;
        for (int j = 0; j < count; j++) {
            before += tokens[j] < own;
        }
        isKept &= before < topK;
        mass = isKept ? mass : 0;
    }
    if (row.topP < 1.0) {
        if (isMine) {
            masses[threadIdx.x] = mass;
        }
        total = total < 0.0 ? (double)overBlock<false>(mass) : total * LIST_UNIT;
        __syncthreads();
        u64 before = 0;
        for (int j = 0; j < count; j++) {
            before += tokens[j] < own ? masses[j] : 0;
        }
        isKept &= before == 0 || (double)before < row.topP * total;
        __syncthreads();
    }
    isMine = isKept && weight >= row.minP;
    u64 time = NEVER;
    if (isMine) {
        time = timeOf(row.seed, row.position, idAt(own), ofRank(rankAt(own)), (float)scale.largest, row.temperature);
    }
    u64 first = ~overBlock<true>(~time);
    return (int)~overBlock<true>(isMine && time == first ? (u64) ~(u32)idAt(own) : 0);
}

// What wins of a span of which this lane has the token `id`, that runs or not, if it does so before `first`: the same in all lanes.
__device__ __noinline__ void runSpan(const SampleRow& row, float largest, int id, float x, bool runs, u64& first, int& winner) {
    u64 time = runs ? timeOf(row.seed, row.position, id, x, largest, row.temperature) : NEVER;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        u64 otherTime = __shfl_xor_sync(~0u, time, distance);
        int other = __shfl_xor_sync(~0u, id, distance);
        bool isBefore = otherTime < time || (otherTime == time && other < id);
        time = isBefore ? otherTime : time;
        id = isBefore ? other : id;
    }
    if (time < first || (time == first && id < winner)) {
        first = time;
        winner = id;
    }
}

// Draws among all tokens within `limit` that min-p leaves; the block that has the token returns it, the others -1. Of each span
// a number is known that no time in it is below: each warp looks at its span with the least one, then, with the least time of
// all warps, at those that may still have a lesser.
__device__ __forceinline__ int drawFromAll(
    Team& team, const SampleRow& row, const Range& range, const Scale& scale, u64 limit, u64* bounds) {
    float largest = (float)scale.largest;
    int lane = threadIdx.x % 32;
    int spans = (range.count + SPAN - 1) / SPAN;
    u64 first = NEVER;
    int winner = -1;
    auto isIn = [&](int i) { return i < range.count && place(rankOf(range.numbers[i]), range.first + i) <= limit; };
    auto look = [&](int span) {
        int i = span * SPAN + lane;
        float x = i < range.count ? range.numbers[i] : 0.0f;
        runSpan(row, largest, range.first + i, x, isIn(i) && scale.weight(x) >= row.minP, first, winner);
    };
    u64 least = NEVER;
    int leastSpan = -1;
    for (int start = threadIdx.x / 32 * 32; start < spans; start += THREADS) {
        u32 most = 0;  // of the span start + lane
        int end = min(32, spans - start);
        for (int s = 0; s < end; s++) {
            int i = (start + s) * SPAN + lane;
            u32 rank = isIn(i) ? rankOf(range.numbers[i]) : 0;
#pragma unroll
            for (int distance = 16; distance > 0; distance /= 2) {
                rank = max(rank, __shfl_xor_sync(~0u, rank, distance));
            }
            most = s == lane ? rank : most;
        }
        u64 bound = NEVER;
        if (most > IMPOSSIBLE) {
            double fraction = fractionOf(randomBits(row.seed, row.position, range.first / SPAN + start + lane, OF_SPAN));
            double time = (1.0 - fraction) / (SPAN * (1 + 1e-9)) / scale.weight(ofRank(most));  // -log(u) >= 1 - u
            bound = (u64)__double_as_longlong(time);
        }
        if (lane < end) {
            bounds[start + lane] = bound;
        }
        if (bound < least) {
            least = bound;
            leastSpan = start + lane;
        }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        u64 otherBound = __shfl_xor_sync(~0u, least, distance);
        int other = __shfl_xor_sync(~0u, leastSpan, distance);
        bool isBefore = otherBound < least || (otherBound == least && other < leastSpan);
        least = isBefore ? otherBound : least;
        leastSpan = isBefore ? other : leastSpan;
    }
    if (least != NEVER) {
        look(leastSpan);
    }
    u64 limitOfAll = ~overTeam<true>(team, ~first);
    for (int start = threadIdx.x / 32 * 32; start < spans; start += THREADS) {
        bool isOpen = start + lane < spans && bounds[start + lane] <= limitOfAll && start + lane != leastSpan;
        u32 open = __ballot_sync(~0u, isOpen && bounds[start + lane] != NEVER);
        while (open != 0) {
            look(start + __ffs(open) - 1);
            open &= open - 1;
        }
    }
    u64 time = ~overTeam<true>(team, ~first);
    int id = (int)~overTeam<true>(team, first == time && winner >= 0 ? (u64) ~(u32)winner : 0);
    return id >= range.first && id < range.first + range.count ? id : -1;
}

// The token of a row; -1 in blocks that do not have it.
__device__ __forceinline__ int choose(
    Team& team, const SampleRow& row, const Range& range, u64* bins, u64* tokens, u64* masses, u64* groups, Survey all) {
    float largest = ofRank(all.most);
    Scale scale(largest, row.temperature);
    u64* list = team.lists + LIST + 1;
    u64 limit = place(IMPOSSIBLE, 0) - 1;
    u64 before;
    u64 with;
    if (row.topK > 0 && row.topK < all.possible) {
        if (row.topK <= LIST) {
            int count = gatherMost(team, range, bins, largest, row.topK, list, tokens);
            return team.part == 0 ? drawFromList(row, scale, tokens, masses, count, row.topK, -1.0) : -1;
        }
        int last = binOfMost(team, range, bins, largest, row.topK, before, with);
        limit = placeOf(team, range, bins, row.topK - before, One{},
            [=](float x, u64) { return isPossible(x) && binOf(x, largest) == last; });
    }
    if (row.topP < 1.0) {
        clearBins(bins);
        u32 listed = 0;
        each<4>(range, [&](int i, float x) {
            if (place(rankOf(x), range.first + i) <= limit) {
                addTo(&bins[binOf(x, largest)], scale.mass(x));
            }
        });
        reach(team, bins, ~0ull, before, with);  // out of reach: with the last bin it is all of them
        double total = (double)with;
        u64 target = max(min((u64)ceil(row.topP * total), with), 1ull);
        Team alone = {1, 0, 0, nullptr, nullptr};  // the bins are those of all blocks by now
        int last = reach(alone, bins, target, before, with);
        each<8>(
            range, [&](int i, float x) { listed += place(rankOf(x), range.first + i) <= limit && binOf(x, largest) <= last; });
        if (overTeam<false>(team, listed) <= LIST) {
            int count =
                gather(team, range, list, tokens, [=](float x, u64 at) { return at <= limit && binOf(x, largest) <= last; });
            return team.part == 0 ? drawFromList(row, scale, tokens, masses, count, 0, total / GRID_UNIT) : -1;
        }
        limit = placeOf(team, range, bins, target - before, scale,
            [=](float x, u64 at) { return at <= limit && binOf(x, largest) == last; });
    }
    return drawFromAll(team, row, range, scale, limit, groups);
}

extern "C" __global__ void __launch_bounds__(512, 1)
    sample(const float* logits, i64 stride, int vocabulary, const SampleRow* rows, SampleResult* results, int* tokenOf,
        float* numbers, u32* counts, u64* exchange, u64* lists, int inShared) {
    __shared__ u64 bins[BINS];
    __shared__ u64 tokens[LIST];
    __shared__ u64 masses[LIST];
    extern __shared__ u64 groups[];  // [range / 32], then the range's numbers
    launchNext();
    waitForPrevious();
    int index = blockIdx.y;
    const SampleRow& row = rows[index];
    if (row.temperature < 0.0) {
        return;
    }
    int parts = gridDim.x;
    Team team = {parts, (int)blockIdx.x, 0, exchange + (i64)index * 2 * parts * BINS, lists + (i64)index * 2 * (LIST + 1)};
    int width = ((vocabulary + parts - 1) / parts + 31) / 32 * 32;
    int first = team.part * width;
    int size = max(0, min(vocabulary, first + width) - first);
    const float* raw = logits + index * stride;
    Range given = {(float*)raw + first, first, size};
    Range range = {inShared ? (float*)(groups + width / 32) : numbers + (i64)index * vocabulary + first, first, size};
    bool isGreedy = row.temperature == 0.0;
    bool looksAgain = !isGreedy || row.topLogprobs >= 0;
    bool copies = changes(row) || (inShared && looksAgain);
    if (!copies) {
        range = given;
    }
    SampleResult& result = results[index];
    Survey all = survey(team, given, looksAgain, [&](int i, float x) {
        if (copies) {
            range.numbers[i] = x;
        }
    });
    int failure = all.most == NO_NUMBER    ? NOT_A_NUMBER
                  : all.most == INFINITE   ? INFINITE_LOGIT
                  : all.most == IMPOSSIBLE ? NO_FINITE_LOGIT
                                           : FINE;
    double logSum = 0.0;
    if (failure == FINE) {
        if (team.part == 0 && threadIdx.x == 0) {
            result.count = 0;
        }
        if (row.topLogprobs >= 0) {
            logSum = report(team, range, bins, tokens, all, row.topLogprobs, result);
        }
        if (changes(row)) {
            change(row, range, counts + (i64)index * vocabulary);
            all = survey(team, range, !isGreedy, [](int, float) {});
            failure = all.most == IMPOSSIBLE ? NONE_ALLOWED : all.most >= INFINITE ? INFINITE_CHANGE : FINE;
        }
    }
    int token = -1;
    if (failure == FINE && isGreedy) {
        token = team.part == 0 ? all.token : -1;
    } else if (failure == FINE) {
        token = choose(team, row, range, bins, tokens, masses, groups, all);
    }
    bool answers = failure == FINE ? token >= 0 : team.part == 0;
    if (answers && threadIdx.x == 0) {
        result.token = token;
        result.failure = failure;
        result.chosen = failure == FINE && row.topLogprobs >= 0 ? (float)(raw[token] - logSum) : 0.0f;
        tokenOf[index] = max(token, 0);
        if (row.appends && failure == FINE) {
            row.history[row.historyLength] = token;
        }
    }
}

// Brings what the host wrote, `words` numbers, to the device: few, which the copy engine would take longer to begin with. Of the
// first `rows`, token ids of a step, those whose number from `sampledAt` on is not negative become what the step before has just
// sampled: tokens[that number]. Grid (ceil(words / 256)).
extern "C" __global__ void __launch_bounds__(256)
    receive(const int* host, int* target, int words, int rows, int sampledAt, const int* tokens) {
    launchNext();
    int i = blockIdx.x * 256 + threadIdx.x;
    int word = i < words ? ((const volatile int*)host)[i] : 0;
    int sampled = i < rows ? ((const volatile int*)host)[sampledAt + i] : -1;
    waitForPrevious();
    if (i < words) {
        target[i] = sampled < 0 ? word : tokens[sampled];
    }
}
