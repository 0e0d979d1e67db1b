/** Small pictures as data URLs, which need no server. */
const picture = (colour: string, path: string): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28"><rect width="28" height="28" rx="6" fill="${colour}"/><path d="${path}" fill="none" stroke="#fff" stroke-width="1.6" stroke-linecap="round"/></svg>`,
  )}`

/** Agents that answer in the demo. */
export const PERSONAS = [
  {
    id: 'ariadne',
    name: 'Ariadne',
    about: 'looks things up and asks before she publishes',
    example: 'Why do owls fly so quietly? And publish it',
    avatarUrl: picture(
      '#a8483f',
      'M20 13a7 7 0 1 1-7-7 7 7 0 0 1 7 7M7 10q7-1 12 5M7 16q6-2 9 3M20 13q0 8 3 9',
    ),
  },
  {
    id: 'daedalus',
    name: 'Daedalus',
    about: 'sends helpers out',
    example: '@daedalus Which owls migrate and which hunt by day?',
    avatarUrl: picture('#3f6a8c', 'M14 14h3v-3h-6v6h9V8H8v12h15'),
  },
  {
    id: 'icarus',
    name: 'Icarus',
    about: 'fails when the sun is mentioned',
    example: '@icarus Fly to the sun',
    avatarUrl: picture('#8a6a1f', 'M6 20C7 12 12 8 22 7c-1 4-3 6-6 6 1 3-3 5-5 4M6 20l5-6'),
  },
] as const

/** The one that is spoken to: `@icarus why?`, or else the first. */
export function personaFor(text: string): (typeof PERSONAS)[number] {
  const named = /@(\w+)/.exec(text)?.[1]?.toLowerCase()
  return PERSONAS.find(({ id }) => id === named) ?? PERSONAS[0]
}
