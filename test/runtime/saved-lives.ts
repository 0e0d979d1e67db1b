import type { Program } from '../catalogue/random-programs.ts'
import type { Scenario } from './lives.ts'

const read = (name: string, turns = 0, failsUntil = 0) =>
  ({ op: 'effect', name, turns, failsUntil, safety: 'read' }) as const
const asleep = { op: 'pause', question: 0 } as const
const life = (program: Program, more: Partial<Scenario> = {}): Scenario => ({
  program,
  deaths: [{ share: 0, committed: true }],
  durability: 'group',
  suspendAlways: false,
  ...more,
})

/** Random agents that came out wrong once, cut down to what it took. */
export const savedLives: readonly (readonly [string, Scenario])[] = [
  [
    'D3 a child run that comes to its pause while it is told to stop',
    life([{ op: 'race', branches: [[read('c')], [{ op: 'child', name: 'c', body: [asleep] }]] }], {
      durability: 'async',
    }),
  ],
  [
    'D3 the same, later in the child and with a winner that is tried again',
    life(
      [
        read('b', 4),
        {
          op: 'race',
          branches: [
            [read('c', 0, 2)],
            [
              {
                op: 'child',
                name: 'c',
                body: [{ op: 'clock' }, asleep, { op: 'compute', name: 'c', add: 32 }],
              },
            ],
          ],
        },
      ],
      { durability: 'async' },
    ),
  ],
  [
    'D3 a child run that is told to stop before its record is gone through',
    life(
      [
        {
          op: 'race',
          branches: [
            [{ op: 'nested', name: 'a', tries: 1, body: [read('a', 1, 1), read('a')] }],
            [
              {
                op: 'child',
                name: 'a',
                body: [
                  { op: 'fan-out', name: 'a', turns: [3, 0] },
                  { op: 'effect', name: 'a', turns: 0, failsUntil: 0, safety: 'write' },
                ],
              },
            ],
            [asleep],
          ],
        },
      ],
      { deaths: [{ share: 820, committed: false }] },
    ),
  ],
  [
    'D3 a body that waits for its child run to stop when all around it ends',
    life([
      {
        op: 'race',
        branches: [
          [
            {
              op: 'nested',
              name: 'a',
              tries: 1,
              body: [
                {
                  op: 'race',
                  branches: [[{ op: 'child', name: 'b', body: [read('b', 30)] }], [read('c', 3)]],
                },
              ],
            },
          ],
          [read('c', 10)],
        ],
      },
    ]),
  ],
  [
    'R2 a read that completes as the body around it fails, in parallel',
    life(
      [
        {
          op: 'nested',
          name: 'b',
          tries: 2,
          body: [
            { op: 'parallel', branches: [[read('b', 0, 2)], [{ op: 'fan-out', name: 'c', turns: [2, 0] }]] },
          ],
        },
      ],
      { durability: 'async', suspendAlways: true },
    ),
  ],
  [
    'R2 a read that completes as the body around it fails, in a race',
    life(
      [
        {
          op: 'nested',
          name: 'a',
          tries: 2,
          body: [
            {
              op: 'race',
              branches: [
                [{ op: 'fan-out', name: 'a', turns: [4, 2] }],
                [{ op: 'compute', name: 'a', add: 0 }, read('b', 0, 10)],
              ],
            },
          ],
        },
      ],
      { deaths: [{ share: 999, committed: false }], durability: 'async' },
    ),
  ],
  [
    'R10 a write of unknown outcome that its body leaves behind is asked about in the next attempt',
    life(
      [
        {
          op: 'nested',
          name: 'a',
          tries: 3,
          body: [
            {
              op: 'race',
              branches: [
                [read('a', 1)],
                [{ op: 'effect', name: 'a', turns: 0, failsUntil: 0, safety: 'write' }, asleep],
              ],
            },
            read('a', 0, 99),
          ],
        },
      ],
      { deaths: [{ share: 149, committed: false }] },
    ),
  ],
  ...[396, 450].map((share): readonly [string, Scenario] => [
    `R5 a body that is handed over as it is tried again: calls that its attempt lacks are not new (${share})`,
    life(
      [
        { op: 'loop', times: 1, body: [{ op: 'clock' }] },
        read('a'),
        {
          op: 'nested',
          name: 'a',
          tries: 2,
          body: [
            {
              op: 'race',
              branches: [
                [read('a', 0, 2), { op: 'clock' }],
                [read('a', 1), read('a')],
              ],
            },
            asleep,
            { op: 'child', name: 'a', body: [{ op: 'compute', name: 'a', add: 0 }] },
          ],
        },
      ],
      {
        deaths: [
          { share, committed: false, handsOver: 'in peace' },
          { share: 0, committed: false },
        ],
      },
    ),
  ]),
]
