/**
 * Raised when the folds of runs and steps give other rows than before: 2 since runs tell what they cost (V7), 3 since
 * they tell their last checkpoint and when they are due, and since a completion may be the start as well, 4 since a run goes on
 * with one answer of several, 5 since a kept replay says what it is, 6 since a start that comes late says whose the run is,
 * 7 since a session says what it answers, 8 since a run that was taken for dead runs on with its next step,
 * 9 since a run has tags and scores.
 */
export const PROJECTION_VERSION = 9
