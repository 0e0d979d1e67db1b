export { type Ag2Mapper, createAg2Mapper } from './create-ag2-mapper.ts'
