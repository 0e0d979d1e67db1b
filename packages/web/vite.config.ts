import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = 'http://127.0.0.1:2539'
const paths = ['/v1', '/api', '/socket.io', '/metrics', '/healthz', '/readyz', '/openapi.json', '/mcp']

/** In development the page asks a server that runs beside it: `clew serve`. */
export default defineConfig({
  plugins: [react()],
  resolve: { conditions: ['@clew/source', 'module', 'browser', 'development|production'] },
  server: { proxy: Object.fromEntries(paths.map((path) => [path, { target: server, ws: true }])) },
  build: {
    target: 'es2024',
    // Browsers that know light-dark(): what stands in for it elsewhere does not follow a theme that was chosen.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    chunkSizeWarningLimit: 700,
    manifest: true,
  },
})
