// SPDX-License-Identifier: BSD-2-Clause
package real;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A server of HTTP on Netty, which answers with what it was sent, backwards. */
public class Netty implements Real.Program {
    private Real.Http server;

    private static final class Backwards extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            StringBuilder text = new StringBuilder(request.content().toString(StandardCharsets.UTF_8)).reverse();
            HttpResponseStatus status = request.uri().endsWith("7") ? HttpResponseStatus.NOT_FOUND : HttpResponseStatus.OK;
            byte[] all = (request.uri() + " " + text).getBytes(StandardCharsets.UTF_8);
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(all));
            response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, all.length);
            context.writeAndFlush(response);
        }
    }

    @Override
    public void start(String[] args) throws Exception {
        Channel channel = new ServerBootstrap().group(new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory())).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel c) {
                        c.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new Backwards());
                    }
                }).bind("localhost", 0).sync().channel();
        server = new Real.Http(((InetSocketAddress) channel.localAddress()).getPort());
    }

    @Override
    public String answer(int n) throws Exception {
        return server.ask("/" + n, "{\"n\": " + n + ", \"text\": \"" + new String(new char[n % 100]).replace("\0", "netty ") + "\"}");
    }
}
