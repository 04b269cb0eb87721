/** Profiles of engines at work, apart from the runs whose figures count: recordings, traces, a list of what there is. */
@NullMarked
package roselle.bench.profile;

import org.jspecify.annotations.NullMarked;
