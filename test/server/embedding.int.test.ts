import { createServer as createHttpServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { getRequestListener } from '@hono/node-server'
import { sessionRoom, TRACE_EVENTS } from '@clew/trace'
import { openLedger } from 'clew'
import { createServer, type MountedServer } from 'clew/server'
import { createToken } from '@clew/server/tokens'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { Server as SocketServer } from 'socket.io'
import { io } from 'socket.io-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { begin } from '../live/session-writer.ts'
import { recordRun } from './served.ts'

/** Applications as their guides write them, each with a route of its own that reads JSON. */
const APPLICATIONS: Readonly<Record<string, (clew: MountedServer) => Promise<Server>>> = {
  async Hono(clew) {
    const app = new Hono()
    app.get('/own', (context) => context.json({ own: true }))
    app.post('/own', async (context) => context.json(await context.req.json()))
    app.mount('/clew', clew.fetch)
    const listener = getRequestListener(app.fetch)
    return createHttpServer((incoming, outgoing) => void listener(incoming, outgoing))
  },
  async Express(clew) {
    const app = express()
    // Before anything that reads bodies.
    app.use('/clew', clew.handler)
    app.use(express.json())
    app.get('/own', (_, response) => void response.json({ own: true }))
    app.post('/own', (request, response) => void response.json(request.body))
    return createHttpServer(app)
  },
  async Fastify(clew) {
    const app = Fastify()
    app.addHook('onRequest', (request, reply, done) => {
      if (!request.raw.url?.startsWith('/clew/')) return done()
      reply.hijack()
      clew.handler(request.raw, reply.raw)
    })
    app.get('/own', async () => ({ own: true }))
    app.post('/own', async (request) => request.body)
    await app.ready()
    return app.server
  },
  async 'node:http'(clew) {
    return createHttpServer((incoming, outgoing) => {
      if (incoming.url?.startsWith('/clew/')) return clew.handler(incoming, outgoing)
      outgoing.setHeader('content-type', 'application/json')
      if (incoming.method === 'POST') return void incoming.pipe(outgoing)
      outgoing.end('{"own":true}')
    })
  },
}

async function mount(name: string) {
  const ledger = await openLedger('memory:')
  const clew = await createServer(ledger, { basePath: '/clew', log: 'silent' })
  const application = await APPLICATIONS[name]?.(clew)
  if (!application) throw new Error(`there is no application ${name}`)
  clew.attach(application)
  application.listen(0, '127.0.0.1')
  await once(application, 'listening')
  const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}`
  onTestFinished(async () => {
    await clew.close()
    application.closeAllConnections()
    application.close()
    await ledger.close()
  })
  await recordRun(ledger, 'run-1')
  const { token } = await createToken(ledger, {
    name: 'app',
    scopes: ['read', 'write'],
    workspace: null,
    expiresAt: null,
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { ledger, clew, application, url, token, headers }
}

describe.each(Object.keys(APPLICATIONS))('A2 a server mounted in %s', (name) => {
  it('answers below its path, and the application beside it', async () => {
    const { url, headers, ledger } = await mount(name)
    expect((await fetch(`${url}/clew/v1/runs`)).status).toBe(401)
    const listed = await fetch(`${url}/clew/v1/runs?limit=5`, { headers })
    expect([listed.status, await listed.json()]).toMatchObject([200, { runs: [{ runId: 'run-1' }] }])
    expect((await fetch(`${url}/clew/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/clew/none`, { headers })).status).toBe(404)
    // With a body that is packed, and one that its own framework would have parsed.
    const note = { event_type: 'execution.note', correlation_id: 'posted', payload: { n: 1 } }
    for (const [body, encoding] of [
      [JSON.stringify(note), 'identity'],
      [gzipSync(JSON.stringify(note)), 'gzip'],
    ] as const) {
      const posted = await fetch(`${url}/clew/v1/events`, {
        method: 'POST',
        headers: { ...headers, 'content-encoding': encoding },
        body,
      })
      expect([posted.status, await posted.json()]).toMatchObject([200, { refused: 0 }])
    }
    expect(await ledger.getRun('posted')).toMatchObject({ events: 2 })
    expect(await (await fetch(`${url}/own`)).json()).toEqual({ own: true })
    const own = await fetch(`${url}/own`, { method: 'POST', headers, body: '{"a":1}' })
    expect(await own.json()).toEqual({ a: 1 })
  })

  it('shares its sockets: rooms of Clew below its path, upgrades of the application beside them', async () => {
    const { url, token, ledger, application } = await mount(name)
    const own = new SocketServer(application)
    own.on('connection', (client) => client.emit('own'))
    onTestFinished(() => void own.engine.close())
    const beside = io(url, { forceNew: true, transports: ['websocket'] })
    onTestFinished(() => void beside.disconnect())
    await new Promise<void>((resolve) => beside.once('own', resolve))

    const socket = io(url, {
      path: '/clew/socket.io',
      forceNew: true,
      transports: ['websocket'],
      auth: { token },
    })
    onTestFinished(() => void socket.disconnect())
    expect(await socket.emitWithAck('join', sessionRoom('default', 'session-1'))).toEqual({ ok: true })
    const heard = new Promise((resolve) => socket.onAny((event: string) => resolve(event)))
    await ledger.record(begin('session-1', 'general'))
    expect(TRACE_EVENTS).toContain(await heard)
  })

  it('is closed by itself, and the application goes on', async () => {
    const { url, clew, headers } = await mount(name)
    await clew.close()
    expect((await fetch(`${url}/clew/v1/runs`, { headers })).status).toBe(503)
    expect(await (await fetch(`${url}/own`)).json()).toEqual({ own: true })
  })
})
