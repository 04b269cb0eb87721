// Adapters as AdapterPacking lays them out.
#pragma once
#include "common/elements.cuh"

// What an adapter adds to outputs of a weight that follow each other.
struct AddedPart {
    i64 shrink;  // bytes from the adapter's beginning to A, [rank, stride]; those of a weight's parts follow each other
    i64 expand;  // to B turned, [rank, width]
    int firstOutput;
    int outputs;
    int firstRank;  // among all of the weight
    int rank;
    int stride;  // columns, filled up with zeros to a multiple of 8
    int width;  // outputs, likewise
    float scale;
};

// What a row's adapter adds to a weight. An adapter begins with the number of weights that it knows of, where the parts of each
// begin, and where the last ones end; then the parts, from a multiple of 16 bytes on.
struct Added {
    const char* adapter;
    const AddedPart* parts = nullptr;
    int count = 0;

    __device__ __forceinline__ Added(u64 address, int weight) : adapter((const char*)address) {
        if (address == 0) {
            return;
        }
        const int* header = (const int*)adapter;
        int weights = header[0];
        if (weight < weights) {
            parts = (const AddedPart*)(adapter + (4 * (weights + 2) + 15) / 16 * 16) + header[1 + weight];
            count = header[2 + weight] - header[1 + weight];
        }
    }

    __device__ __forceinline__ int ranks() const {
        return count == 0 ? 0 : parts[count - 1].firstRank + parts[count - 1].rank;
    }
};
