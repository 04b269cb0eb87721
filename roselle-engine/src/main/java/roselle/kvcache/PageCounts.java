package roselle.kvcache;

/**
 * Where the pages of one KV group are; free + cached + owned = total.
 *
 * @param total pages of the pool that can be used: without those that are lent
 * @param free pages that hold nothing
 * @param cached pages of the prefix tree
 * @param owned pages that one sequence writes to
 * @param available free pages and cached ones that no sequence uses
 * @param lent pages whose memory is given back, until the pool grows again
 */
public record PageCounts(int total, int free, int cached, int owned, int available, int lent) {}
