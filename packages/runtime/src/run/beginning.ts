import { type ClewEvent, type EventOf, isOwn } from '@clew/ledger'

/** The event with which a run, or a fork's own part of it, begins. */
export type Beginning = EventOf<'system.workflow_started' | 'system.workflow_forked'>
export const isBeginning = (event: ClewEvent): event is Beginning =>
  isOwn(event, 'system.workflow_started', 'system.workflow_forked')
