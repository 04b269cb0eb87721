// RoPE: the rotation of position embeddings.
#pragma once

// Sine and cosine of an angle below about 10^6: Cody and Waite's reduction, then the polynomials of Moshier's Cephes.
__device__ __forceinline__ void turn(float angle, float& sine, float& cosine) {
    float quarters = rintf(angle * 0.63661977236758134f);
    float r = fmaf(quarters, -1.57079625129699707f, angle);
    r = fmaf(quarters, -7.54978941586159635e-8f, r);
    r = fmaf(quarters, -5.39030285815811905e-15f, r);
    float square = r * r;
    float s = fmaf(fmaf(fmaf(-1.95152959e-4f, square, 8.33216087e-3f), square, -1.66666546e-1f), square * r, r);
    float c = fmaf(fmaf(fmaf(2.44331571e-5f, square, -1.38873162e-3f), square, 4.16666456e-2f), square * square,
        fmaf(-0.5f, square, 1.0f));
    int quadrant = (int)quarters & 3;
    sine = quadrant & 1 ? c : s;
    cosine = quadrant & 1 ? s : c;
    sine = quadrant & 2 ? -sine : sine;
    cosine = (quadrant + 1) & 2 ? -cosine : cosine;
}
