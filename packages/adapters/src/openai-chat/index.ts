export { mapChat } from './map-chat.ts'
export { type Chat, readChats } from './read-chat.ts'
